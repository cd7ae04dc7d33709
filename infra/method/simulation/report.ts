import type { Section } from './experiment.ts';

/** The report as Markdown, its charts beside it. */
export function renderReport(sections: readonly Section[]): string {
  const claims = sections.flatMap((section) => section.claims);
  const holding = claims.filter((claim) => claim.holds).length;
  return [
    '# Simulations of the certifier and of the selection',
    `From the code in \`workflows/method\`, by \`npm run simulate\`. ${holding} of ${claims.length} claims hold.`,
    "Model (METHOD 3): groups of 8; a task effect of standard deviation 0.2 (binary judge 0.25) that the group shares; a graded judge adds noise of 0.2 and clips to [0, 1], a binary one draws from the clipped mean; the shift is calibrated so that the realised lift is the nominal one; a look is taken after every group, and a column's look at the first group that reaches it. Every replicate has a random stream of its own, keyed by experiment, row and replicate.",
    ...sections.map(renderSection),
  ].join('\n\n');
}

function renderSection(section: Section): string {
  return [
    `## ${section.title}`,
    `Generator: ${section.generator}`,
    ...section.charts.map(({ file }) => `![${section.title}](${file})`),
    ...section.tables.flatMap(({ title, note, header, rows }) => [
      `**${title}.** ${note}`,
      [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
    ]),
    section.claims.map(({ text, holds }) => `- ${holds ? 'holds' : '**does not hold**'}: ${text}`).join('\n'),
  ].join('\n\n');
}
