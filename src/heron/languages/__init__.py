"""What heron must know of a language: script, direction, and which Unicode variants are one."""
