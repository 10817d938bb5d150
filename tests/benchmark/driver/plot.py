# SPDX-License-Identifier: Apache-2.0
"""An SVG of panels, one a net: time of each engine over ours, by batch size, both axes logarithmic."""
import math
from xml.sax.saxutils import escape

from engines import ALL_OURS, FEWER_BITS, OURS
from report import rows_of

WIDTH, HEIGHT, MARGIN, COLUMNS = 420, 260, 46, 2
COLORS = ["#000000", "#999999", "#d55e00", "#0072b2", "#56b4e9", "#009e73", "#cc79a7", "#e69f00", "#882255", "#332288",
          "#117733", "#44aa99", "#aa4499"]
LOWEST, HIGHEST = 1 / 16, 32  # of the ratio; what lies beyond is drawn at the edge


class Panel:
    def __init__(self, left, top, batches, lowest):
        self.left, self.top, self.batches, self.lowest = left + MARGIN, top + MARGIN / 2, batches, lowest
        self.width, self.height = WIDTH - 1.4 * MARGIN, HEIGHT - 1.5 * MARGIN

    def x(self, batch):
        low, high = math.log(self.batches[0]), math.log(self.batches[-1])
        return self.left + self.width * ((math.log(batch) - low) / (high - low) if high > low else 0.5)

    def y(self, ratio):
        share = math.log(min(max(ratio, self.lowest), HIGHEST) / self.lowest) / math.log(HIGHEST / self.lowest)
        return self.top + self.height * (1 - share)

    def grid(self, title):
        yield f'<text x="{self.left}" y="{self.top - 6:.1f}" font-weight="bold">{escape(title)}</text>'
        ratio = self.lowest
        while ratio <= HIGHEST:
            stroke = "#000" if ratio == 1 else "#ddd"
            yield f'<line x1="{self.left}" x2="{self.left + self.width:.1f}" y1="{self.y(ratio):.1f}" y2="{self.y(ratio):.1f}" stroke="{stroke}"/>'
            yield f'<text x="{self.left - 4}" y="{self.y(ratio) + 4:.1f}" text-anchor="end">{ratio:.2g}</text>'
            ratio *= 2
        last = -math.inf
        for batch in self.batches:
            if self.x(batch) - last > 22:
                last = self.x(batch)
                yield f'<text x="{last:.1f}" y="{self.top + self.height + 14:.1f}" text-anchor="middle">{batch}</text>'

    def line(self, points, color):
        path = " ".join(f"{self.x(batch):.1f},{self.y(ratio):.1f}" for batch, ratio in points)
        yield f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.8"/>'
        for batch, ratio in points:
            yield f'<circle cx="{self.x(batch):.1f}" cy="{self.y(ratio):.1f}" r="2.2" fill="{color}"/>'


def legend_of(labels):
    """([(name, label, x, y)], lines): as many in a line as the picture is wide."""
    entries, x, y = [], MARGIN, 16
    for name, label in labels.items():
        width = 26 + 6.2 * len(label)
        if x + width > WIDTH * COLUMNS:
            x, y = MARGIN, y + 16
        entries.append((name, label, x, y))
        x += width
    return entries, y // 16


def svg(results, engines):
    """results: report.results_of(); engines: {name: title}. Those of FEWER_BITS are not drawn."""
    engines = {name: title for name, title in engines.items() if name not in FEWER_BITS}
    nets = list(dict.fromkeys(result["net"] for result in results))
    color = dict(zip([*ALL_OURS, *(name for name in engines if name not in ALL_OURS)], COLORS))
    rows = rows_of(results)
    # A power of two below 1, and below all that is shown: the panels compare.
    lowest = max(LOWEST, 2 ** math.floor(math.log2(min([0.5, *(result["times_tfaot"] for result in results)]))))
    entries, lines = legend_of({name: "tfaot = 1" if name == OURS else title for name, title in engines.items()})
    legend = 14 + 16 * lines
    height = legend + HEIGHT * math.ceil(len(nets) / COLUMNS)
    parts = ["<!-- SPDX-License-Identifier: Apache-2.0 -->",
             f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * COLUMNS}" height="{height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{WIDTH * COLUMNS}" height="{height}" fill="#fff"/>']
    for name, label, x, y in entries:
        parts.append(f'<circle cx="{x:.0f}" cy="{y}" r="4" fill="{color[name]}"/><text x="{x + 8:.0f}" y="{y + 4}">{escape(label)}</text>')
    for number, net in enumerate(nets):
        of_net = [(batch, by_engine) for name, batch, by_engine in rows if name == net]
        panel = Panel(WIDTH * (number % COLUMNS), legend + HEIGHT * (number // COLUMNS), [batch for batch, _ in of_net],
                      lowest)
        parts += panel.grid(f"{net}: time over tfaot's, by batch size")
        for name in engines:
            if name != OURS:
                parts += panel.line([(batch, r[name]["times_tfaot"]) for batch, r in of_net if name in r], color[name])
    return "\n".join(parts + ["</svg>"]) + "\n"
