"""A data set like ParaShoot: paragraphs, tasks for an annotation tool, checked questions."""
