import type { RandomGenerator } from '../../../workflows/method/random.ts';

const FIRST_NAMES = [
  'Sarah',
  'Dana',
  'Omar',
  'Priya',
  'Lucas',
  'Mei',
  'Tomas',
  'Ingrid',
  'Kofi',
  'Elena',
  'Marcus',
  'Yuki',
  'Farah',
  'Henrik',
  'Paula',
  'Victor',
  'Nadia',
  'Samuel',
  'Greta',
  'Rafael',
];
const LAST_NAMES = [
  'Chen',
  'Reyes',
  'Haddad',
  'Nair',
  'Moreau',
  'Lin',
  'Novak',
  'Berg',
  'Mensah',
  'Petrova',
  'Hale',
  'Tanaka',
  'Aziz',
  'Olsen',
  'Costa',
  'Ivanov',
  'Rahman',
  'Ortega',
  'Weiss',
  'Silva',
];
export const COMPANIES = [
  'Northwind',
  'Acme',
  'Bluepeak',
  'Fernhill',
  'Lumen',
  'Quarry',
  'Tidewater',
  'Oakline',
];

export function pickOne<T>(random: RandomGenerator, items: readonly T[]): T {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new RangeError('cannot pick from an empty list');
  return item;
}

/** Different people: no first and no last name occurs twice. At most 20. */
export function people(random: RandomGenerator, count: number): string[] {
  const lastNames = random.shuffle(LAST_NAMES);
  return random
    .shuffle(FIRST_NAMES)
    .slice(0, count)
    .map((first, index) => `${first} ${lastNames[index] ?? ''}`);
}

export function emailOf(name: string, company: string): string {
  return `${name.toLowerCase().replaceAll(' ', '.')}@${company.toLowerCase()}.example`;
}

/** `2026-MM-DD` within the months given. */
export function dateIn(random: RandomGenerator, firstMonth: number, lastMonth: number): string {
  const month = firstMonth + random.below(lastMonth - firstMonth + 1);
  return `2026-${String(month).padStart(2, '0')}-${String(1 + random.below(28)).padStart(2, '0')}`;
}

export function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}
