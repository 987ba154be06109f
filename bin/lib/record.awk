# Makes an animated SVG of a terminal's output. Input: "SECONDS<tab>TEXT", a line as it came.
# Variables: title, rows (lines in view), pause (longest gap in seconds; longer ones are cut to it).

BEGIN {
  FS = "\t"
  if (!rows) rows = 30
  if (!pause) pause = 1.5
  width = 8.4; height = 19; top = 46; left = 16; columns = 80
}

function escaped(text) {
  gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text)
  return text
}

function class_of(text) {
  if (text ~ /^== /) return "h"
  if (text ~ /^\$ /) return "c"
  if (text ~ /^demo: .*(SIMULATED|REAL|single-machine)/) return "w"
  if (text ~ / (Ready|Succeeded|Suspended|Running)$/ || text ~ /right$/) return "g"
  return "t"
}

{
  gap = NR == 1 ? 0.6 : $1 - last
  last = $1
  if (gap > pause) gap = pause
  # Lines of one answer come at once, but a little apart they are easier to follow.
  if (gap < 0.03) gap = 0.03
  now += gap
  text = substr($0, index($0, "\t") + 1)
  at[NR] = now
  line[NR] = text
  if (length(text) > columns) columns = length(text)
}

END {
  total = now + 6
  if (columns > 118) columns = 118
  w = int(columns * width + 2 * left); h = int(rows * height + top + 14)
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n", w, h, w, h
  printf "<title>%s</title>\n<style>\n", escaped(title)
  print "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:#d7dde5}"
  print ".h{fill:#7cc4ff;font-weight:600}.c{fill:#f3d27a}.g{fill:#8fe388}.w{fill:#ffa86b}.n{fill:#8a94a3;font-size:12px}"
  # All is seen at once where nothing moves: who asked for less motion, or a viewer without animation.
  print "@media (prefers-reduced-motion:no-preference){"
  printf "#s{animation:s %.2fs infinite step-end}\n", total
  printf "@keyframes s{0%%{transform:translateY(0)}"
  for (i = rows + 1; i <= NR; i++) printf "%.2f%%{transform:translateY(%dpx)}", 100 * at[i] / total, -(i - rows) * height
  print "}"
  for (i = 1; i <= NR; i++) {
    p = 100 * at[i] / total
    printf "#l%d{animation:k%d %.2fs infinite step-end}@keyframes k%d{0%%{opacity:0}%.2f%%{opacity:1}}\n", i, i, total, i, p
  }
  print "}\n</style>"
  printf "<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#12161c\"/>\n", w, h
  print "<circle cx=\"20\" cy=\"18\" r=\"5\" fill=\"#ff5f57\"/><circle cx=\"38\" cy=\"18\" r=\"5\" fill=\"#febc2e\"/><circle cx=\"56\" cy=\"18\" r=\"5\" fill=\"#28c840\"/>"
  printf "<text class=\"n\" x=\"78\" y=\"22\">%s</text>\n", escaped(title)
  printf "<svg x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\" xml:space=\"preserve\"><g id=\"s\">\n", top - 14, w, rows * height + 6
  for (i = 1; i <= NR; i++) {
    text = line[i]
    if (length(text) > 118) text = substr(text, 1, 117) "…"
    if (text != "") printf "<text id=\"l%d\" class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", i, class_of(text), left, i * height - 4, escaped(text)
  }
  print "</g></svg>\n</svg>"
}
