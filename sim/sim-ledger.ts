/** Ledger of the simulator, in billionths. It keeps the simulator from publishing a draft that overdraws an account. */
export type SimLedger = Readonly<{
  balance(account: string): bigint
  /** Moves an amount. Throws a `RangeError` when an account of the platform would be overdrawn. */
  move(from: string, to: string, amount: bigint): void
  /** Whether an account holds this amount; always true for accounts outside the platform. */
  canPay(account: string, amount: bigint): boolean
  /** Income of the platform: the amounts that players paid to the treasury, less corrections. */
  income(): bigint
}>

/** Accounts outside the platform, which have no limit. */
const OUTSIDE: ReadonlySet<string> = new Set(['players', 'world', 'burned'])

/** Opens an empty ledger. Accounts at zero are removed, so memory does not grow with the number of contests. */
export function openSimLedger(): SimLedger {
  const balances = new Map<string, bigint>()
  let income = 0n
  const balance = (account: string): bigint => balances.get(account) ?? 0n
  const post = (account: string, amount: bigint): void => {
    const after = balance(account) + amount
    if (after === 0n) balances.delete(account)
    else balances.set(account, after)
  }
  const canPay = (account: string, amount: bigint): boolean =>
    OUTSIDE.has(account) || balance(account) >= amount
  return {
    balance,
    canPay,
    income: () => income,
    move(from, to, amount) {
      if (amount < 0n || !canPay(from, amount)) {
        throw new RangeError(`${from} holds ${balance(from)}, asked for ${amount}`)
      }
      post(from, -amount)
      post(to, amount)
      if (from === 'players' && to === 'treasury') income += amount
      if (from === 'treasury' && to === 'players') income -= amount
    },
  }
}
