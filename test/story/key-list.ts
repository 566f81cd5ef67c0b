/** A row of `log/keys`: a key that signs from the beginning, unless the fields say otherwise. */
export function keyRow({ vkey }: Readonly<{ vkey: string }>, fields: object = {}): object {
  return { vkey, state: 'signing', fromSize: 0, toSize: null, statement: null, ...fields }
}

/** Text of `log/keys` of an origin. */
export function keyList(origin: string, keys: readonly object[], formerLogs: readonly object[] = []): string {
  return JSON.stringify({ origin, logId: 'a-log', keys, formerLogs })
}
