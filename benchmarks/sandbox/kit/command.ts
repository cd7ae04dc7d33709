/** What a command does. Commands are total: nonsense is refused with a message, never thrown. */
export type Effect<D> =
  | { readonly kind: 'done'; readonly data: D; readonly notice: string; readonly goTo: string | null }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'ask'; readonly dialog: string; readonly subject: string };

export type Command<D> = (data: D, fields: URLSearchParams) => Effect<D>;

/** `goTo` is the page to show next; null stays where the command was given. */
export function done<D>(data: D, notice: string, goTo: string | null = null): Effect<D> {
  return { kind: 'done', data, notice, goTo };
}

export function refuse<D>(message: string): Effect<D> {
  return { kind: 'refused', message };
}
