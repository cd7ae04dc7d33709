import { templateSegment } from './segment-template.ts';
import type { HostRule, PageKeys, Tier, UrlRules, UrlState } from './types.ts';

/** METHOD 1.2, arXiv 2610.06829 (three tiers); the normalisation is ours. */
export const defaultUrlRules: UrlRules = { version: 1, hostAliases: {}, hostRules: {} };

const keptPathSegments = 4;
const keptHashSegments = 3;
const wordParameters = new Set(
  'tab view section action mode type route do cmd option controller task'.split(' '),
);
const searchParameters = new Set('q query search s k keyword term search_query'.split(' '));

/** Host key, path key and canonical address of any string; an unparsable one has `invalid:` for all three. */
export function urlState(url: string, rules: UrlRules = defaultUrlRules): PageKeys {
  const parsed = URL.parse(url);
  if (parsed === null) return { hostKey: 'invalid:', pathKey: 'invalid:', canonical: 'invalid:' };
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return otherScheme(parsed);

  const hostKey = hostKeyOf(parsed, rules);
  const rule = own(rules.hostRules, hostKey) ?? {};
  const path = pathSegments(parsed.pathname);
  const hash = hashRoute(parsed.hash, rule);
  const templatedPath = matchPathPatterns(path, rule) ?? template(path, keptPathSegments);
  const query = stateQuery([parsed.search, hash.query]);
  return {
    hostKey,
    pathKey: join(hostKey, templatedPath, template(hash.segments, keptHashSegments)) + query,
    canonical: join(hostKey, path.map(lower), hash.segments.map(lower)),
  };
}

/** The three keys under which a page is tracked, from specific to general. */
export function tierKeys(state: UrlState): readonly { readonly tier: Tier; readonly key: string }[] {
  return [
    { tier: 'path', key: `p:${state.pathKey}` },
    { tier: 'host', key: `h:${state.hostKey}` },
    { tier: 'global', key: '*' },
  ];
}

function otherScheme(parsed: URL): PageKeys {
  const hostKey = parsed.protocol;
  const pathKey = hostKey === 'about:' ? parsed.href.replace(/[?#].*$/s, '').toLowerCase() : hostKey;
  return { hostKey, pathKey, canonical: pathKey };
}

function hostKeyOf(parsed: URL, rules: UrlRules): string {
  const host = parsed.host.replace(/^www\./, '');
  return own(rules.hostAliases, host) ?? host;
}

function pathSegments(pathname: string): string[] {
  const segments = pathname
    .split('/')
    .map((segment) => segment.replace(/;.*$/s, ''))
    .filter(isNotEmpty)
    .map(decodeSegment);
  return /^index\.(html|htm|php)$/i.test(segments.at(-1) ?? '') ? segments.slice(0, -1) : segments;
}

function hashRoute(hash: string, rule: HostRule): { readonly segments: string[]; readonly query: string } {
  const fragment = hash.slice(1);
  const looksLikeRoute = fragment.startsWith('!') || fragment.includes('/');
  const used = rule.hashRoute === 'always' || (rule.hashRoute !== 'never' && looksLikeRoute);
  if (!used) return { segments: [], query: '' };
  const route = fragment.replace(/^!+/, '');
  const queryAt = route.indexOf('?');
  const path = queryAt < 0 ? route : route.slice(0, queryAt);
  return {
    segments: path.split('/').filter(isNotEmpty).map(decodeSegment),
    query: queryAt < 0 ? '' : route.slice(queryAt + 1),
  };
}

/** Word-like ids cannot be told by their shape: a host rule names the segments that vary. */
function matchPathPatterns(path: readonly string[], rule: HostRule): string[] | undefined {
  return rule.pathPatterns
    ?.map((pattern) => pattern.toLowerCase().split('/').filter(isNotEmpty))
    .find(
      (pattern) =>
        pattern.length === path.length &&
        pattern.every((part, index) => part === '*' || part === path[index]?.toLowerCase()),
    );
}

function template(segments: readonly string[], kept: number): string[] {
  const templated = segments.slice(0, kept).map(templateSegment);
  return segments.length > kept ? [...templated, '**'] : templated;
}

/** Only names that tell one page state from another; the first occurrence of a name wins. */
function stateQuery(queries: readonly string[]): string {
  const kept = new Map<string, string>();
  for (const query of queries) {
    for (const [rawName, value] of new URLSearchParams(query)) {
      const name = rawName.toLowerCase();
      if (kept.has(name)) continue;
      if (wordParameters.has(name)) kept.set(name, wordValue(value));
      if (searchParameters.has(name)) kept.set(name, ':v');
    }
  }
  if (kept.size === 0) return '';
  const names = [...kept.keys()].sort();
  return `?${names.map((name) => `${name}=${kept.get(name)}`).join('&')}`;
}

function wordValue(value: string): string {
  return /^[A-Za-z][A-Za-z_-]{0,23}$/.test(value) ? value.toLowerCase() : ':v';
}

function join(hostKey: string, path: readonly string[], hash: readonly string[]): string {
  const route = hash.length > 0 ? `#/${hash.join('/')}` : '';
  return `${hostKey}/${path.join('/')}${route}`;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment).normalize('NFC');
  } catch {
    return segment;
  }
}

/** A host may be called `constructor`. */
function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

const isNotEmpty = (segment: string): boolean => segment !== '';
const lower = (segment: string): string => segment.toLowerCase();
