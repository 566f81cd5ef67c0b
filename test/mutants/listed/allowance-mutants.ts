import type { ListedMutant } from './listed-mutant.ts'

const ALLOWANCE = 'src/serve/allowance'

/** Bugs of the limits for one caller. */
export const ALLOWANCE_MUTANTS: readonly ListedMutant[] = [
  {
    id: 'allowance-fixed-window',
    file: `${ALLOWANCE}/allowance-windows.ts`,
    from: 'while (count > 0 && sinceMs + ageMs(windows, entry, start) >= windows.windowMs) {',
    to: 'while (count > 0 && Math.floor(nowMs / windows.windowMs) > Math.floor((nowMs - sinceMs) / windows.windowMs)) {',
    promise: 'At most 60 requests are accepted in any 60 seconds',
    tests: [`${ALLOWANCE}/allowance.test.ts`],
  },
  {
    id: 'allowance-one-more',
    file: `${ALLOWANCE}/allowance-windows.ts`,
    from: 'windows.counts[entry] = count + 1',
    to: 'windows.counts[entry] = Math.max(count, 1)',
    promise: 'Each accepted request counts',
    tests: [`${ALLOWANCE}/allowance.test.ts`],
  },
  {
    id: 'allowance-leftmost-hop',
    file: `${ALLOWANCE}/caller.ts`,
    from: "const comma = forwardedFor.lastIndexOf(',', end - 1)",
    to: 'const comma = -1 + 0 * end',
    promise: 'A caller cannot choose its address by X-Forwarded-For',
    tests: [`${ALLOWANCE}/caller.test.ts`],
  },
  {
    id: 'allowance-strangers-trusted',
    file: `${ALLOWANCE}/caller.ts`,
    from: 'end > 0 && contains(trusted, caller); hops',
    to: 'end > 0; hops',
    promise: 'Only a trusted proxy names the address before it',
    tests: [`${ALLOWANCE}/caller.test.ts`],
  },
  {
    id: 'allowance-bad-hop-skipped',
    file: `${ALLOWANCE}/caller.ts`,
    from: 'if (hop === undefined) return caller\n',
    to: 'if (hop === undefined) { end = comma; continue }\n',
    promise: 'A malformed hop counts for the proxy that reported it',
    tests: [`${ALLOWANCE}/caller.test.ts`],
  },
  {
    id: 'allowance-full-ipv6',
    file: 'src/protocol/sender-key.ts',
    from: 'address.parts.slice(0, 4)',
    to: 'address.parts.slice(0, 8)',
    promise: 'The addresses of one IPv6 /64 share one allowance',
    tests: [`${ALLOWANCE}/caller.test.ts`],
  },
  {
    id: 'slots-one-more',
    file: `${ALLOWANCE}/caller-slots.ts`,
    from: '(counts[known] ?? 0) >= perCaller',
    to: '(counts[known] ?? 0) > perCaller',
    promise: 'One address has ten streams at most',
    tests: [`${ALLOWANCE}/caller-slots.test.ts`],
  },
  {
    id: 'slots-node-unbounded',
    file: `${ALLOWANCE}/caller-slots.ts`,
    from: "if (openNow() >= perNode) return { ok: false, full: 'node' }\n",
    to: '',
    promise: 'A node has a limit of streams',
    tests: [`${ALLOWANCE}/caller-slots.test.ts`],
  },
]
