import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { templateSegment } from '../../../workflows/method/segment-template.ts';
import { defaultUrlRules, tierKeys, urlState } from '../../../workflows/method/url-state.ts';
import { cases } from './arbitraries.ts';

const host = fc.constantFrom('shop.example', 'a.b.example', 'localhost', 'xn--bcher-kva.example');
const segment = fc.oneof(
  fc.constantFrom(
    'r',
    'item',
    '12345',
    'issue-123',
    'Index',
    '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    'a%20b',
    '%zz',
  ),
  fc.stringMatching(/^[A-Za-z0-9_.~-]{1,40}$/).filter((s) => !/^\.+$/.test(s)),
);
const path = fc.array(segment, { maxLength: 7 }).map((segments) => segments.map((s) => `/${s}`).join(''));
const query = fc.array(fc.tuple(fc.constantFrom('tab', 'q', 'utm', 'page', 'View'), fc.string()), {
  maxLength: 4,
});
const url = fc
  .tuple(host, path, query, fc.constantFrom('', '#top', '#/inbox/42', '#!/board?tab=all'))
  .map(([h, p, params, hash]) => `https://${h}${p}?${new URLSearchParams(params).toString()}${hash}`);

describe('URL state (METHOD 1.2)', () => {
  test('scheme, www., the default port, case and superfluous slashes of a host do not make another state', () => {
    fc.assert(
      fc.property(host, path, (h, p) => {
        const plain = urlState(`https://${h}${p}`);
        for (const same of [
          `http://${h}${p}`,
          `https://www.${h}${p}`,
          `https://${h}:443${p}`,
          `https://${h.toUpperCase()}${p}/`,
          `https://${h}//${p}`,
          `https://${h}/x/..${p}`,
        ]) {
          expect(urlState(same)).toEqual(plain);
        }
        expect(urlState(`https://${h}:8001${p}`).hostKey).toBe(`${h}:8001`);
      }),
      cases,
    );
  });

  test('parameters that name no state, and anchors, do not make another state', () => {
    fc.assert(
      fc.property(host, path, query, (h, p, params) => {
        const without = urlState(`https://${h}${p}?${new URLSearchParams(params).toString()}`);
        const withNoise = new URLSearchParams([['utm_source', 'x'], ...params, ['sort', 'new']]);
        expect(urlState(`https://${h}${p}?${withNoise.toString()}#section-2`)).toEqual(without);
      }),
      cases,
    );
  });

  test('keys are bounded whatever the address: 4 path segments, 3 hash segments, sorted state names', () => {
    fc.assert(
      fc.property(url, (address) => {
        const { hostKey, pathKey } = urlState(address);
        const [beforeQuery = '', parameters = ''] = pathKey.split('?');
        const [keptPath = '', keptHash = ''] = beforeQuery.slice(hostKey.length).split('#');
        expect(keptPath.split('/').length).toBeLessThanOrEqual(6);
        expect(keptHash.split('/').length).toBeLessThanOrEqual(5);
        const names = parameters === '' ? [] : parameters.split('&').map((p) => p.split('=')[0] ?? '');
        expect(names).toEqual([...new Set(names)].sort());
        for (const name of names) expect(['tab', 'q', 'view']).toContain(name);
      }),
      cases,
    );
  });

  test('any string at all has keys, and equal strings equal ones', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.webUrl({ withFragments: true, withQueryParameters: true })),
        (address) => {
          const keys = urlState(address);
          expect(keys).toEqual(urlState(address));
          for (const key of Object.values(keys)) expect(key).not.toBe('');
          if (keys.hostKey !== 'invalid:') expect(keys.pathKey.startsWith(keys.hostKey)).toBe(true);
        },
      ),
      cases,
    );
  });

  test.each([
    ['12345', ':n'],
    ['3F2504E0-4f89-11d3-9a0c-0305e82c3301', ':uuid'],
    ['2024-05', ':date'],
    ['2024-05-01', ':date'],
    ['jane@doe.org', ':email'],
    ['9fceb02d', ':hex'],
    ['deadbeef', 'deadbeef'],
    ['abcdefgh_ijklmnop1', ':id'],
    ['a1-b-c-defghijklmnop', ':slug'],
    ['issue-123', 'issue:n'],
    ['T1204', 't:n'],
    ['Team42', 'team:n'],
    ['1abcd2', ':id'],
    ['B07XYZ123', ':id'],
    ['video7', 'video7'],
    ['AbCdEfGhIjKl', ':id'],
    ['Wool-socks-1234', ':slug'],
    ['-1234', '-1234'],
    ['one-two-three-four', ':slug'],
    ['one-two-three', 'one-two-three'],
    ['ä'.repeat(32), ':slug'],
    ['ä'.repeat(31), 'ä'.repeat(31)],
    ['٤٢', '٤٢'],
    ['Settings', 'settings'],
  ])('the segment %s stands as %s', (given, expected) => {
    expect(templateSegment(given)).toBe(expected);
  });

  test('host rules replace word-like ids, and a host may force or forbid hash routes', () => {
    const rules = {
      ...defaultUrlRules,
      hostRules: {
        'reddit.com': { pathPatterns: ['/r/*/comments/*', '/r/*'] },
        'mail.example': { hashRoute: 'always' },
        'docs.example': { hashRoute: 'never' },
      },
    } as const;
    const pathKeyOf = (address: string) => urlState(address, rules).pathKey;
    expect(pathKeyOf('https://reddit.com/r/Aww')).toBe('reddit.com/r/*');
    expect(pathKeyOf('https://reddit.com/r/aww/comments/xyz')).toBe('reddit.com/r/*/comments/*');
    expect(pathKeyOf('https://reddit.com/r/aww/about')).toBe('reddit.com/r/aww/about');
    expect(pathKeyOf('https://mail.example/#inbox')).toBe('mail.example/#/inbox');
    expect(pathKeyOf('https://docs.example/#/a/b')).toBe('docs.example/');
    expect(urlState('https://reddit.com/r/Aww', rules).canonical).toBe('reddit.com/r/aww');
  });

  test('shards on different ports share keys through aliases', () => {
    const rules = {
      ...defaultUrlRules,
      hostAliases: { 'localhost:8001': 'gmail', 'localhost:8002': 'gmail' },
    };
    expect(urlState('http://localhost:8001/a', rules)).toEqual(urlState('http://localhost:8002/a', rules));
  });

  test('a host named like an object method has no rules by accident', () => {
    expect(urlState('http://constructor/a').hostKey).toBe('constructor');
  });

  test('a page has its path, host and global key, from specific to general', () => {
    expect(tierKeys(urlState('https://shop.example/item/7')).map((tier) => tier.key)).toEqual([
      'p:shop.example/item/:n',
      'h:shop.example',
      '*',
    ]);
  });
});
