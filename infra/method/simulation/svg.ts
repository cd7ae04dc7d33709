/** Small charts of shares in [0, 1] for the Markdown report; they read on a light and on a dark page. */

interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

interface Reference {
  readonly name: string;
  readonly value: number;
}

const width = 720;
const height = 320;
const plot = { left: 48, right: 200, top: 36, bottom: 40 } as const;
const plotWidth = width - plot.left - plot.right;
const plotHeight = height - plot.top - plot.bottom;
const colours = ['#2563eb', '#ea580c', '#16a34a', '#9333ea', '#dc2626', '#0891b2'];
const ink = '#64748b';

export function lineChart(chart: {
  readonly title: string;
  readonly x: readonly number[];
  readonly logarithmic: boolean;
  readonly series: readonly Series[];
}): string {
  const scale = (value: number): number => (chart.logarithmic ? Math.log(value) : value);
  const [first, last] = [scale(chart.x[0] ?? 0), scale(chart.x.at(-1) ?? 1)];
  const xOf = (value: number): number => plot.left + (plotWidth * (scale(value) - first)) / (last - first);
  const lines = chart.series.map(({ values }, i) => {
    const points = values.map((value, k) => `${round(xOf(chart.x[k] ?? 0))},${round(yOf(value))}`).join(' ');
    return `<polyline points="${points}" fill="none" stroke="${colourOf(i)}" stroke-width="2"/>`;
  });
  const ticks = chart.x.map((value) => label(xOf(value), height - plot.bottom + 16, String(value), 'middle'));
  return frame(chart.title, [...lines, ...ticks, ...legend(chart.series)]);
}

export function barChart(chart: {
  readonly title: string;
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  readonly reference?: Reference;
}): string {
  const slot = plotWidth / chart.labels.length;
  const barWidth = (slot * 0.8) / chart.series.length;
  const bars = chart.series.flatMap(({ values }, i) =>
    values.map((value, k) => {
      const x = plot.left + slot * (k + 0.1) + barWidth * i;
      const y = yOf(value);
      const size = `width="${round(barWidth)}" height="${round(plot.top + plotHeight - y)}"`;
      return `<rect x="${round(x)}" y="${round(y)}" ${size} fill="${colourOf(i)}"/>`;
    }),
  );
  const ticks = chart.labels.map((text, k) =>
    label(plot.left + slot * (k + 0.5), height - plot.bottom + 16, text.replace(' to slot ', '/'), 'middle'),
  );
  return frame(chart.title, [...bars, ...ticks, ...referenceLine(chart.reference), ...legend(chart.series)]);
}

function referenceLine(reference: Reference | undefined): string[] {
  if (reference === undefined) return [];
  const y = round(yOf(reference.value));
  return [
    `<line x1="${plot.left}" x2="${width - plot.right}" y1="${y}" y2="${y}" stroke="${ink}" stroke-dasharray="4 3"/>`,
    label(width - plot.right + 8, y + 4, reference.name, 'start'),
  ];
}

function legend(series: readonly Series[]): string[] {
  return series.flatMap(({ name }, i) => {
    const y = plot.top + 12 + 18 * i;
    const x = width - plot.right + 12;
    return [
      `<rect x="${x}" y="${y - 9}" width="10" height="10" fill="${colourOf(i)}"/>`,
      label(x + 16, y, name, 'start'),
    ];
  });
}

function frame(title: string, parts: readonly string[]): string {
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => {
    const y = round(yOf(value));
    return [
      `<line x1="${plot.left}" x2="${width - plot.right}" y1="${y}" y2="${y}" stroke="${ink}" stroke-opacity="0.25"/>`,
      label(plot.left - 6, y + 4, String(value), 'end'),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<title>${escapeXml(title)}</title>`,
    `<text x="${plot.left}" y="20" font-size="14" fill="${ink}">${escapeXml(title)}</text>`,
    ...grid,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

const yOf = (value: number): number => plot.top + plotHeight * (1 - value);
const round = (value: number): number => Math.round(value * 10) / 10;
const colourOf = (i: number): string => colours[i % colours.length] ?? ink;
const label = (x: number, y: number, text: string, anchor: 'start' | 'middle' | 'end'): string =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${ink}">${escapeXml(text)}</text>`;
const escapeXml = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
