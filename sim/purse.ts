/** The simulator's own small books, in billionths; it never publishes what these could not bear. */
export type Purse = Readonly<{
  balance(account: string): bigint
  /** Moves an amount; throws when an account of the platform would fall below zero. */
  move(from: string, to: string, amount: bigint): void
  /** Whether an account of the platform holds this much. */
  bears(account: string, amount: bigint): boolean
  /** What players gave the treasury, corrections taken off: the platform's income. */
  income(): bigint
}>

/** Accounts outside the platform: they hold whatever they are asked for. */
const OUTSIDE: ReadonlySet<string> = new Set(['players', 'world', 'burned'])

/** Empty books. An account at zero is forgotten, so that years of contests leave nothing behind. */
export function purseOf(): Purse {
  const balances = new Map<string, bigint>()
  let income = 0n
  const balance = (account: string): bigint => balances.get(account) ?? 0n
  const post = (account: string, amount: bigint): void => {
    const after = balance(account) + amount
    if (after === 0n) balances.delete(account)
    else balances.set(account, after)
  }
  const bears = (account: string, amount: bigint): boolean =>
    OUTSIDE.has(account) || balance(account) >= amount
  return {
    balance,
    bears,
    income: () => income,
    move(from, to, amount) {
      if (amount < 0n || !bears(from, amount)) {
        throw new RangeError(`${from} holds ${balance(from)}, asked for ${amount}`)
      }
      post(from, -amount)
      post(to, amount)
      if (from === 'players' && to === 'treasury') income += amount
      if (from === 'treasury' && to === 'players') income -= amount
    },
  }
}
