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
