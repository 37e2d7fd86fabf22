"use strict";

// Drawing of the data map. Points are written into the pixels themselves: 60,000 calls of a canvas
// would take a tenth of a second, this takes milliseconds.
const HeronDraw = (() => {
  const SHAPES = ["●", "■", "▲", "◆", "✖", "✚", "▼"];
  const INSIDE = [
    (x, y) => x * x + y * y <= 1.05,
    (x, y) => Math.max(Math.abs(x), Math.abs(y)) <= 0.85,
    (x, y) => y <= 0.8 && Math.abs(x) <= (y + 1.1) / 1.7,
    (x, y) => Math.abs(x) + Math.abs(y) <= 1.15,
    (x, y) => Math.abs(Math.abs(x) - Math.abs(y)) <= 0.38 && Math.abs(x) <= 1,
    (x, y) => Math.min(Math.abs(x), Math.abs(y)) <= 0.33 && Math.max(Math.abs(x), Math.abs(y)) <= 1.1,
    (x, y) => -y <= 0.8 && Math.abs(x) <= (1.1 - y) / 1.7,
  ];
  const MARGIN = { left: 52, right: 12, top: 12, bottom: 42 };

  // The page's colours, as the reader's light or dark mode has them.
  function theme() {
    const probe = document.createElement("span");
    document.body.append(probe);
    const resolve = (name) => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    };
    const found = { ink: resolve("ink"), quiet: resolve("quiet"), line: resolve("line"),
      page: resolve("page"), shade: resolve("shade"), accent: resolve("orange") };
    probe.remove();
    const [red, green, blue] = channels(found.shade);
    found.dark = 0.299 * red + 0.587 * green + 0.114 * blue < 128;
    // The scale's end that is nearest to the background is left out: it would not be seen.
    found.range = found.dark ? [0.3, 1] : [0, 0.75];
    return found;
  }

  function channels(colour) {
    if (colour.startsWith("#")) {
      return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    }
    return colour.match(/[\d.]+/g).slice(0, 3).map(Number);
  }

  // A pixel as a canvas stores it: alpha, blue, green, red from the highest byte down.
  function pixel([red, green, blue]) {
    return ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0;
  }

  function onScale(scale, share, [from, to]) {
    const at = (from + share * (to - from)) * (scale.length - 1);
    const low = Math.min(Math.floor(at), scale.length - 2);
    const [a, b] = [channels(scale[low]), channels(scale[low + 1])];
    return a.map((value, k) => value + (at - low) * (b[k] - value));
  }

  // A colour and a shape for each entry of a legend, or 256 colours of the scale.
  function paint(data, colouring, colours) {
    const { scale, palette, other } = data;
    if (colouring.scaled) {
      const table = Array.from({ length: 256 }, (_, i) => onScale(scale, i / 255, colours.range));
      return { table, shapes: null };
    }
    const last = Math.max(colouring.entries.length - 1, 1);
    const table = colouring.entries.map((entry, i) => {
      if (entry.other) return channels(other);
      if (colouring.ordered) return onScale(scale, i / last, colours.range);
      const [red, green, blue] = channels(palette[i]);
      return red + green + blue === 0 && colours.dark ? channels("#f0e442") : [red, green, blue];
    });
    return { table, shapes: table.map((_, i) => SHAPES[i % SHAPES.length]) };
  }

  // One point's pixels, relative to its centre in an image `width` pixels wide.
  function stamp(shape, radius, width) {
    const offsets = [];
    const reach = Math.ceil(radius * 1.2);
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        if (INSIDE[shape % INSIDE.length](dx / radius, dy / radius)) offsets.push(dy * width + dx);
      }
    }
    return Int32Array.from(offsets);
  }

  // The plot's place in a canvas and the stretch of the data that it shows.
  function frame(canvas, box) {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(canvas.clientWidth, 200);
    const height = Math.max(canvas.clientHeight, 150);
    const across = width - MARGIN.left - MARGIN.right;
    const up = height - MARGIN.top - MARGIN.bottom;
    const perX = across / (box.x1 - box.x0);
    const perY = up / (box.y1 - box.y0);
    return {
      ratio, width, height, perX, perY, box,
      left: (x) => MARGIN.left + (x - box.x0) * perX,
      top: (y) => MARGIN.top + (box.y1 - y) * perY,
      x: (left) => box.x0 + (left - MARGIN.left) / perX,
      y: (top) => box.y1 - (top - MARGIN.top) / perY,
      inside: { left: MARGIN.left, top: MARGIN.top, across, up },
    };
  }

  function fit(canvas, view) {
    const [width, height] = [view.width * view.ratio, view.height * view.ratio].map(Math.round);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext("2d");
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    return context;
  }

  let buffer = null;

  // Draw all points: those outside the choice first, in grey; the others over them, in colour.
  function points(canvas, view, x, y, colouring, painted, chosen, colours) {
    const context = fit(canvas, view);
    const { width, height } = canvas;
    if (!buffer || buffer.width !== width || buffer.height !== height) {
      buffer = context.createImageData(width, height);
    }
    const shade = channels(colours.shade);
    const pixels = new Uint32Array(buffer.data.buffer);
    pixels.fill(pixel(shade));
    const size = (x.length > 30000 ? 1.9 : x.length > 5000 ? 2.6 : 3.6) * view.ratio;
    const kinds = painted.shapes ? painted.shapes.length : 1;
    const stamps = Array.from({ length: Math.min(kinds, SHAPES.length) }, (_, i) => stamp(i, size, width));
    const table = Uint32Array.from(painted.table, pixel);
    const pale = pixel(channels(colours.quiet).map((value, k) => (value + shade[k]) / 2));
    const { box, ratio } = view;
    // Stay clear of the image's edges: a stamp that crosses one would come out on the other side.
    const edge = Math.ceil(size * 1.2) + 1;
    for (const wanted of chosen ? [0, 1] : [1]) {
      for (let i = 0; i < x.length; i++) {
        if (chosen && chosen[i] !== wanted) continue;
        if (!(x[i] >= box.x0 && x[i] <= box.x1 && y[i] >= box.y0 && y[i] <= box.y1)) continue;
        const left = Math.round(view.left(x[i]) * ratio);
        const top = Math.round(view.top(y[i]) * ratio);
        if (left < edge || top < edge || left >= width - edge || top >= height - edge) continue;
        const band = colouring.bands ? colouring.bands[i] : 0;
        let colour = pale;
        if (wanted) {
          if (colouring.bands) colour = band >= 0 ? table[band] : pale;
          else if (colouring.scaled[i] === colouring.scaled[i]) colour = table[Math.round(255 * colouring.scaled[i])];
        }
        const offsets = stamps[band > 0 ? band % stamps.length : 0];
        const centre = top * width + left;
        for (let k = 0; k < offsets.length; k++) {
          // Half transparent, or a quarter outside the choice: crowds come out darker.
          const at = centre + offsets[k];
          const under = pixels[at];
          const half = (under & colour) + (((under ^ colour) & 0xfefefefe) >>> 1);
          const other = wanted ? colour : under;
          pixels[at] = (half & other) + (((half ^ other) & 0xfefefefe) >>> 1);
        }
      }
    }
    context.putImageData(buffer, 0, 0);
    axes(context, view, colours);
  }

  function axes(context, view, colours) {
    const { left, top, across, up } = view.inside;
    context.font = "12px system-ui, sans-serif";
    context.lineWidth = 1;
    context.fillStyle = colours.quiet;
    context.strokeStyle = colours.quiet;
    context.strokeRect(left + 0.5, top + 0.5, across, up);
    context.textAlign = "center";
    for (const value of ticks(view.box.x0, view.box.x1)) {
      context.fillRect(view.left(value), top + up, 1, 4);
      context.fillText(label(value), view.left(value), top + up + 17);
    }
    context.fillText("variability", left + across / 2, top + up + 34);
    context.textAlign = "right";
    for (const value of ticks(view.box.y0, view.box.y1)) {
      context.fillRect(left - 4, view.top(value), 4, 1);
      context.fillText(label(value), left - 7, view.top(value) + 4);
    }
    context.save();
    context.translate(13, top + up / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText("confidence", 0, 0);
    context.restore();
    if (view.box.x1 - view.box.x0 < 0.45) return; // zoomed in: the regions are elsewhere
    context.font = "italic 13px system-ui, sans-serif";
    context.fillStyle = colours.ink;
    context.textAlign = "right";
    for (const [x, y, name] of [[0.97, 0.5, "ambiguous"], [0.6, 0.05, "easy to learn"], [0.6, 0.95, "hard to learn"]]) {
      context.fillText(name, left + x * across, top + y * up + 4);
    }
  }

  function ticks(low, high) {
    const rough = (high - low) / 6;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
    const found = [];
    for (let n = Math.ceil(low / step); n * step <= high; n++) found.push(n * step);
    return found;
  }

  function label(value) {
    return String(Number(value.toFixed(4)));
  }

  // Over the points: the rectangle being drawn, the point being read, hits, arrows.
  function marks(canvas, view, x, y, colours, { box, focus, hits, arrows }) {
    const context = fit(canvas, view);
    context.clearRect(0, 0, view.width, view.height);
    const { left, top, across, up } = view.inside;
    context.beginPath();
    context.rect(left, top, across, up);
    context.save();
    context.clip();
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.5;
    for (const row of hits) ring(context, view, x[row], y[row], 6);
    context.strokeStyle = colours.accent;
    for (const [x0, y0, x1, y1] of arrows) {
      arrow(context, view.left(x0), view.top(y0), view.left(x1), view.top(y1));
    }
    if (box) {
      context.setLineDash([5, 4]);
      context.strokeRect(view.left(box.x0), view.top(box.y1),
        (box.x1 - box.x0) * view.perX, (box.y1 - box.y0) * view.perY);
      context.setLineDash([]);
    }
    context.restore();
    if (focus >= 0) {
      for (const [colour, width] of [[colours.page, 6], [colours.accent, 3]]) {
        context.strokeStyle = colour;
        context.lineWidth = width;
        ring(context, view, x[focus], y[focus], 8);
      }
    }
  }

  function ring(context, view, x, y, radius) {
    context.beginPath();
    context.arc(view.left(x), view.top(y), radius, 0, 2 * Math.PI);
    context.stroke();
  }

  function arrow(context, x0, y0, x1, y1) {
    const angle = Math.atan2(y1 - y0, x1 - x0);
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    for (const side of [-0.4, 0.4]) {
      context.moveTo(x1, y1);
      context.lineTo(x1 - 8 * Math.cos(angle + side), y1 - 8 * Math.sin(angle + side));
    }
    context.stroke();
  }

  // All points in pale bars, those chosen over them; each in a scale of its own, or few would not
  // be seen beside many.
  function bars(canvas, name, all, chosen, low, high, colours, fill) {
    const ratio = window.devicePixelRatio || 1;
    const view = { ratio, width: Math.max(canvas.clientWidth, 120), height: Math.max(canvas.clientHeight, 60) };
    const context = fit(canvas, view);
    const [left, bottom, up] = [4, view.height - 28, view.height - 46];
    const wide = (view.width - 8) / all.length;
    context.fillStyle = colours.shade;
    context.fillRect(0, 0, view.width, view.height);
    const most = Math.max(...all, 1);
    const mostChosen = chosen ? Math.max(...chosen, 1) : 1;
    for (let i = 0; i < all.length; i++) {
      const tall = (all[i] / most) * up;
      context.fillStyle = chosen ? colours.line : fill;
      context.fillRect(left + i * wide + 0.5, bottom - tall, wide - 1, tall);
      if (!chosen) continue;
      const inner = (chosen[i] / mostChosen) * up;
      context.fillStyle = fill;
      context.fillRect(left + i * wide + wide / 5, bottom - inner, (wide * 3) / 5, inner);
    }
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = colours.quiet;
    context.textAlign = "left";
    context.fillText(chosen ? `chosen, up to ${mostChosen.toLocaleString("en")} a bar` : `up to ${most.toLocaleString("en")} a bar`, left, 12);
    context.fillText(label(low), left, bottom + 12);
    context.textAlign = "right";
    context.fillText(label(high), view.width - 4, bottom + 12);
    context.textAlign = "center";
    context.fillText(name, view.width / 2, bottom + 22);
  }

  return { SHAPES, theme, channels, paint, frame, points, marks, bars, stamp, pixel, onScale };
})();

if (typeof module !== "undefined") module.exports = HeronDraw;
