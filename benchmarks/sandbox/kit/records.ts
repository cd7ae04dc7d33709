/** Replaces the entry with that id. */
export function patchById<T extends { readonly id: number }>(
  list: readonly T[],
  id: number,
  patch: Partial<T>,
): T[] {
  return list.map((entry) => (entry.id === id ? { ...entry, ...patch } : entry));
}

export function byId<T extends { readonly id: number }>(
  list: readonly T[],
  id: string | number | null,
): T | null {
  return list.find((entry) => String(entry.id) === String(id)) ?? null;
}

export function nextId(list: readonly { readonly id: number }[]): number {
  return Math.max(0, ...list.map((entry) => entry.id)) + 1;
}

/** A form field without the spaces around it, '' if it is missing. */
export const fieldOf = (fields: URLSearchParams, name: string): string => (fields.get(name) ?? '').trim();
