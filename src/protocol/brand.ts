declare const brand: unique symbol

/** A primitive that cannot be mixed up with another of the same runtime type. Minted only in `protocol`. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

/** Throws when one of our own invariants does not hold; the message names the values. */
export function assert(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(`invariant broken: ${message}`)
}

/** A record with exactly these keys, each with the value made for it. */
export function recordOf<Key extends string, Value>(
  keys: readonly Key[],
  make: (key: Key, index: number) => Value,
): Record<Key, Value> {
  return Object.fromEntries(keys.map((key, index) => [key, make(key, index)])) as Record<Key, Value>
}

/** The keys of an object literal, which has no others than its type says. */
export function keysOf<Key extends string>(of: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(of) as Key[]
}
