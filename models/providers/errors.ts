/** What can go wrong between us and a model server. Messages are safe to store: secrets are taken out. */
import { type LostReply, UnansweredCall } from '../contract.ts';

/** The first six pass by themselves; the others need a person. */
export type ProviderErrorKind =
  | 'rate_limited'
  | 'unavailable'
  | 'timeout'
  | 'network'
  | 'cut'
  | 'malformed'
  | 'auth'
  | 'quota'
  | 'bad_request'
  | 'not_found'
  | 'context_length'
  | 'too_large'
  | 'unsupported';

const weather: ReadonlySet<ProviderErrorKind> = new Set([
  'rate_limited',
  'unavailable',
  'timeout',
  'network',
  'cut',
  'malformed',
]);

/** What a server may have made, and count, without our having it; the other kinds end a request before that. */
const lostReplies: { readonly [kind in ProviderErrorKind]?: LostReply } = {
  timeout: 'cut',
  cut: 'cut',
  malformed: 'malformed',
};

/**
 * Thrown by everything in this folder, and nothing else is, but for the reason of an aborted signal; roles put it into
 * an `UnansweredCall` when other requests of theirs were answered.
 */
export class ProviderError extends UnansweredCall {
  override readonly name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  readonly retryable: boolean;
  /** As the server asked; null: it named no time. */
  readonly retryAfterMs: number | null;

  constructor(kind: ProviderErrorKind, message: string, retryAfterMs: number | null = null) {
    super(message, { spent: null, lostReply: lostReplies[kind] ?? null });
    this.kind = kind;
    this.retryable = weather.has(kind);
    this.retryAfterMs = retryAfterMs;
  }
}

/** What a person does about the kinds that do not pass. */
export function remedyFor(kind: ProviderErrorKind): string {
  switch (kind) {
    case 'auth':
      return 'Check the API key in the environment of this worker';
    case 'quota':
      return 'Add credit to the account or use another one';
    case 'not_found':
      return 'Check the model name and the base URL of this role';
    case 'context_length':
      return 'Choose a model with a longer context, or smaller groups and observations';
    case 'too_large':
      return 'Lower maxOutputTokens of this role';
    default:
      return 'Correct the model configuration of this role';
  }
}

const LONGEST_EXCERPT = 300;
const keyShapes = /\b(?:sk|pk|key)-[\w*.-]{6,}|\bBearer\s+\S+/gi;

/** A bounded excerpt of a server's words without `secrets` and without anything that is shaped like a key. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let safe = text;
  for (const secret of secrets) if (secret !== '') safe = safe.replaceAll(secret, '[secret]');
  return safe.replaceAll(keyShapes, '[secret]').slice(0, LONGEST_EXCERPT);
}

interface HttpFailure {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Statuses and words of both wire formats. */
export function classifyFailure(failure: HttpFailure, secrets: readonly string[]): ProviderError {
  const { status, headers, body } = failure;
  const kind = kindOf(status, body);
  const message = `HTTP ${status}: ${withoutSecrets(body, secrets)}`;
  return new ProviderError(kind, message, weather.has(kind) ? retryAfter(headers) : null);
}

function kindOf(status: number, body: string): ProviderErrorKind {
  if (status === 402 || /insufficient_quota|credit balance is too low|billing_error/i.test(body))
    return 'quota';
  if (status === 401 || status === 403) return 'auth';
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limited';
  // A gateway that gave up waiting: the server behind it may go on.
  if ([408, 504, 524].includes(status)) return 'timeout';
  if (status >= 500 || [409, 425].includes(status)) return 'unavailable';
  if (status === 413 || /context.{0,10}length|context window|prompt is too long|too many tokens/i.test(body))
    return 'context_length';
  return 'bad_request';
}

/** A server that asks for more is asked again sooner, and will say so once more. */
const LONGEST_PAUSE_MS = 15 * 60_000;

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
function retryAfter(headers: Headers): number | null {
  const asked = [
    Number(headers.get('retry-after-ms') ?? Number.NaN),
    pauseOf(headers.get('retry-after')),
  ].find((pauseMs) => Number.isFinite(pauseMs) && pauseMs >= 0);
  return asked === undefined ? null : Math.min(asked, LONGEST_PAUSE_MS);
}

function pauseOf(value: string | null): number {
  if (value === null) return Number.NaN;
  const seconds = Number(value);
  return Number.isNaN(seconds) ? Math.max(0, Date.parse(value) - Date.now()) : 1000 * seconds;
}
