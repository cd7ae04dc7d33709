import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { type Move, searchFor } from '../kit/pattern.ts';
import { outcomeOf, type Template } from '../kit/template.ts';
import { PAGE_SIZE } from '../kit/widgets.ts';
import { pickOne } from '../kit/words.ts';
import { shopCommands } from './commands.ts';
import type { Product, ShopData } from './data.ts';

export type ShopTemplate = Template<ShopData>;

export const after = (data: ShopData, command: string, fields: Readonly<Record<string, string>>): ShopData =>
  outcomeOf(shopCommands, data, command, fields);

export interface Target {
  readonly product: Product;
  readonly page: string;
  readonly find: readonly Move[];
}

/** The product that a task is about: the third instance of a template has it beyond the first page. */
export function target(data: ShopData, random: RandomGenerator, index: number): Target {
  const shown = index < 2 ? data.products.slice(0, PAGE_SIZE) : data.products.slice(PAGE_SIZE);
  const product = pickOne(
    random,
    shown.filter(({ inStock }) => inStock),
  );
  return { product, page: `/product/${product.id}`, find: index < 2 ? [] : [searchFor(product.name)] };
}
