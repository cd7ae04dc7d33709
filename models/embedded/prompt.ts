/** The embedded policy's prompt, as it is stored and as the trainer reads it back. */
import { z } from 'zod';
import type { DecisionFeatures } from './scoring.ts';

const activeFeatures = z.array(z.int().nonnegative());

const promptSchema = z.strictObject({
  version: z.literal(1),
  task: activeFeatures,
  candidates: z.array(activeFeatures).min(1),
});

export type EmbeddedPrompt = z.infer<typeof promptSchema>;

export function encodeDecisionFeatures({ task, candidates }: DecisionFeatures): EmbeddedPrompt {
  return { version: 1, task: [...task], candidates: candidates.map((candidate) => [...candidate]) };
}

/** Throws when the document was not written by this version of the embedded policy. */
export function parseDecisionFeatures(prompt: unknown): DecisionFeatures {
  const parsed = promptSchema.safeParse(prompt);
  if (!parsed.success) {
    throw new Error(`This prompt is not one of the embedded policy: ${z.prettifyError(parsed.error)}`);
  }
  return parsed.data;
}
