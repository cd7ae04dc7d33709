/** Every request to a model server as a line of JSON: where the time went, without a word of what was said. */
import { appendFile } from 'node:fs/promises';
import type { EffectiveParameters, ModelTracer } from '../models/contract.ts';

/** Appends to `path`. A line that cannot be written is lost: a trace is worth no call. */
export function traceToFile(path: string): ModelTracer {
  return {
    span: async (name, attributes, work) => {
      const startedAt = new Date().toISOString();
      const began = performance.now();
      let known: EffectiveParameters = attributes;
      try {
        return await work((more) => {
          known = { ...known, ...more };
        });
      } finally {
        const durationMs = Math.round(performance.now() - began);
        const line = JSON.stringify({ name, startedAt, durationMs, attributes: known });
        await appendFile(path, `${line}\n`).catch(() => undefined);
      }
    },
  };
}
