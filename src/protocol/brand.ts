declare const brand: unique symbol

/** A primitive type that does not mix with others of the same runtime type. Only `protocol` casts to brands. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

/** Throws when an invariant is broken. The message should name the values. */
export function assert(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(`invariant broken: ${message}`)
}

/** Ends a switch over a union. A member without a case does not compile. */
export function unreachable(value: never): never {
  throw new Error(`invariant broken: ${String(value)} has no case`)
}

/** Makes an object with exactly these keys. */
export function recordOf<Key extends string, Value>(
  keys: readonly Key[],
  make: (key: Key, index: number) => Value,
): Record<Key, Value> {
  return Object.fromEntries(keys.map((key, index) => [key, make(key, index)])) as Record<Key, Value>
}

/** Keys of an object literal, typed. The object must have no keys beyond its type. */
export function keysOf<Key extends string>(of: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(of) as Key[]
}
