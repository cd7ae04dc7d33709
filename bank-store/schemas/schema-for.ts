import type { z } from 'zod';

/**
 * Returns the schema it is given; does not compile unless the schema's output is exactly `Contract`, but for
 * `readonly`, which zod does not infer deeply.
 */
export const schemaFor =
  <Contract>() =>
  <Schema extends z.ZodType>(
    schema: Schema,
    ..._mismatch: Same<Contract, z.output<Schema>> extends true ? [] : ['schema and contract differ']
  ): Schema =>
    schema;

type Same<A, B> = Equal<DeepReadonly<A>, DeepReadonly<B>>;

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
