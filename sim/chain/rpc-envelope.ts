import type { ChainView } from './rpc-faults.ts'

/** Outcome of a JSON-RPC call. */
export type RpcResult = Readonly<{ result: unknown } | { error: RpcProblem }>

type RpcProblem = Readonly<{ code: number; message: string; data?: unknown }>

/** Methods of a kind of server, by name. */
export type RpcMethods = Readonly<Record<string, (view: ChainView, params: readonly unknown[]) => RpcResult>>

/** Member of a value that may be no object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

export function answered(result: unknown): RpcResult {
  return { result }
}

export function refuse(code: number, message: string, data?: unknown): RpcResult {
  return { error: data === undefined ? { code, message } : { code, message, data } }
}

type RpcQuestion = Readonly<{
  body: string
  methods: RpcMethods
  view: ChainView
  called(method: string): void
}>

type Reply = Readonly<{ jsonrpc: '2.0'; id: unknown }> & RpcResult

/** JSON-RPC 2.0 answer to a body: one call or a batch. `too large` stands for an HTTP 413. */
export function answerBody(question: RpcQuestion): string {
  const { body, view } = question
  const parsed = parse(body)
  if (parsed === undefined) return JSON.stringify(reply(view, null, refuse(-32_700, 'Parse error')))
  if (!Array.isArray(parsed)) {
    const single = answerCall(question, parsed)
    return single === null ? '' : JSON.stringify(single)
  }
  if (parsed.length === 0) return JSON.stringify(reply(view, null, refuse(-32_600, 'empty batch')))
  const { batchMax = Infinity } = view.faults
  if (parsed.length > batchMax) return refusedBatch(view, parsed)
  const { errorEvery = Infinity } = view.faults
  const replies = parsed.flatMap((call, index) => {
    const answer = answerCall(question, call)
    if (answer === null || (index + 1) % errorEvery !== 0) return answer ?? []
    view.fire('errorEvery')
    return reply(view, answer.id, refuse(-32_603, 'Internal error'))
  })
  return replies.length === 0 ? '' : JSON.stringify(arranged(view, replies))
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown
  } catch {
    return undefined
  }
}

/** Reply to a call; null for a notification, which has no id and gets none. */
function answerCall({ methods, view, called }: RpcQuestion, call: unknown): Reply | null {
  const id = memberOf(call, 'id')
  const method = memberOf(call, 'method')
  const params = memberOf(call, 'params') ?? []
  if (memberOf(call, 'jsonrpc') !== '2.0' || typeof method !== 'string' || !Array.isArray(params)) {
    return reply(view, id ?? null, refuse(-32_600, 'Invalid request'))
  }
  called(method)
  if (id === undefined) return null
  return reply(view, id, resultOf(methods, view, method, params))
}

function resultOf(
  methods: RpcMethods,
  view: ChainView,
  method: string,
  params: readonly unknown[],
): RpcResult {
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (run === undefined) {
    const message = `the method ${method} does not exist/is not available`
    return refuse(-32_601, view.chain.kind === 'solana' ? 'Method not found' : message)
  }
  if (view.faults.unhealthy === true && view.chain.kind === 'solana') {
    view.fire('unhealthy')
    return refuse(-32_005, 'Node is behind by 42 slots', { numSlotsBehind: 42 })
  }
  return run(view, params)
}

function reply(view: ChainView, id: unknown, result: RpcResult): Reply {
  const { wrongId } = view.faults
  if (wrongId === undefined || id === null) return { jsonrpc: '2.0', id, ...result }
  view.fire('wrongId')
  const other =
    wrongId === 'null' ? null : wrongId === 'string' ? JSON.stringify(id) : `not ${JSON.stringify(id)}`
  return { jsonrpc: '2.0', id: other, ...result }
}

function refusedBatch(view: ChainView, calls: readonly unknown[]): string {
  view.fire('batchMax')
  const { batchMax, batchRefusal = 'geth' } = view.faults
  if (batchRefusal === 'http-413') return 'too large'
  const id = memberOf(calls[0], 'id') ?? null
  if (batchRefusal === 'geth')
    return JSON.stringify([{ jsonrpc: '2.0', id, ...refuse(-32_600, 'batch too large') }])
  const message = `batch limit ${batchMax} exceeded: ${calls.length} requests given`
  return JSON.stringify({ jsonrpc: '2.0', id: null, ...refuse(-32_000, message) })
}

/** Replies of a batch in the order and number set by the faults. */
function arranged(view: ChainView, replies: readonly Reply[]): readonly Reply[] {
  const { reversed = false, lengthOff = 0 } = view.faults
  if (reversed) view.fire('reversed')
  const ordered = reversed ? replies.toReversed() : replies
  if (lengthOff === 0) return ordered
  view.fire('lengthOff')
  const [first] = ordered
  if (lengthOff < 0 || first === undefined) return ordered.slice(0, lengthOff)
  return [...ordered, ...Array<Reply>(lengthOff).fill(first)]
}
