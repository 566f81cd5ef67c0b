import { readFileSync } from 'node:fs'

type PublishBody = Readonly<{
  drafts?: readonly Readonly<{ ref: string; status: string; seq: number | undefined }>[]
  code?: string
  detail?: string
  /** Held drafts, in a refusal that may pass. */
  held?: number
}>

/** The private listener of a service in a child process. Every function rejects without an answer. */
export type PrivateApi = Readonly<{
  post(
    path: string,
    body: unknown,
    signal?: AbortSignal,
  ): Promise<Readonly<{ status: number; body: PublishBody }>>
  /** All pages of `GET /held`, with a state or without. */
  held(state?: string): Promise<readonly HeldRow[]>
  metric(name: string): Promise<number>
}>

/** A draft in `GET /held`. */
export type HeldRow = Readonly<{
  id: number
  ref: string
  state: string
  tx: string | null
  acceptedAtMs: number
  waitsFor: string | null
  reason: string | null
}>

const ANSWER_MS_MAX = 30_000
const PAGE = 1_000

export function openPrivateApi(publishUrl: string, tokenFile: string): PrivateApi {
  const authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${publishUrl}${path}`, {
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      ...init,
      headers: { authorization, 'content-type': 'application/json' },
    })
  return {
    async post(path, body, signal = AbortSignal.timeout(ANSWER_MS_MAX)) {
      const response = await ask(path, { method: 'POST', body: JSON.stringify(body), signal })
      return { status: response.status, body: (await response.json()) as PublishBody }
    },
    async held(state) {
      const rows: HeldRow[] = []
      const only = state === undefined ? '' : `&state=${state}`
      for (let after: number | null = 0; after !== null;) {
        const response = await ask(`/held?limit=${PAGE}&after=${after}${only}`)
        if (response.status !== 200) throw new Error(`GET /held answers ${response.status}`)
        const page = (await response.json()) as { drafts: readonly HeldRow[]; next: number | null }
        rows.push(...page.drafts)
        after = page.next
      }
      return rows
    },
    async metric(name) {
      const text = await (await ask('/metrics')).text()
      const line = text.split('\n').find((one) => one.startsWith(`${name} `))
      if (line === undefined) throw new Error(`no metric ${name}`)
      return Number(line.slice(name.length + 1))
    },
  }
}
