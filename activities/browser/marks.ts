/// <reference lib="dom" />
import type { Browser } from 'playwright-core';
import { z } from 'zod';

/** Where a ref is drawn, in px of the viewport. */
export const markSchema = z.object({
  ref: z.string(),
  left: z.number(),
  top: z.number(),
  right: z.number(),
  bottom: z.number(),
});

export type Mark = z.infer<typeof markSchema>;

/**
 * A screenshot with a box and its ref around each element (set of marks), as JPEG. Drawn on a page of its own: the
 * page that is shown neither sees nor feels it.
 */
export async function drawMarks(
  browser: Browser,
  jpeg: Uint8Array,
  marks: readonly Mark[],
): Promise<Uint8Array> {
  const page = await browser.newPage();
  try {
    const url = `data:image/jpeg;base64,${Buffer.from(jpeg).toString('base64')}`;
    const drawn = await page.evaluate(drawInPage, { url, marks });
    return Buffer.from(drawn.slice(drawn.indexOf(',') + 1), 'base64');
  } finally {
    await page.close();
  }
}

/** Runs in the page: refers to nothing outside itself. */
async function drawInPage({ url, marks }: { url: string; marks: readonly Mark[] }): Promise<string> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('There is nothing to draw on.');
  context.drawImage(image, 0, 0);
  context.font = 'bold 12px sans-serif';
  context.lineWidth = 2;
  for (const [index, { ref, left, top, right, bottom }] of marks.entries()) {
    // Neighbours differ in colour, so that nobody takes one's label for the other's.
    const colour = `hsl(${(index * 137) % 360} 90% 35%)`;
    context.strokeStyle = colour;
    context.strokeRect(left, top, right - left, bottom - top);
    context.fillStyle = colour;
    context.fillRect(left, top, context.measureText(ref).width + 4, 14);
    context.fillStyle = 'white';
    context.fillText(ref, left + 2, top + 11);
  }
  return canvas.toDataURL('image/jpeg', 0.8);
}
