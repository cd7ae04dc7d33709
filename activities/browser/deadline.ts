/** A wait that was too long; says what was waited for. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** Settles like `work`, or rejects with `TimedOut` after `limitMs`. `work` itself goes on: whoever owns it ends it. */
export async function within<T>(work: Promise<T>, limitMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut(`${what} took more than ${limitMs} ms.`)), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
