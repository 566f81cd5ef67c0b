import { endpointPath } from '../../client/endpoint-query.ts'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import { printable } from '../terminal/output.ts'
import { type Diagnosis, ok, wrong } from './diagnosis.ts'
import { refusalText } from './doctor-failure.ts'

/** Asks for a path, with the status and all headers of the answer. */
type AskPath = (path: string) => Promise<Pick<Response, 'status' | 'headers' | 'text'>>

/** An answer that no cache may send without asking the service, and the directive that says so. */
const UNCACHED = [
  { path: endpointPath('summary', ''), directive: 'must-revalidate' },
  { path: endpointPath('logCheckpoint', ''), directive: 'must-revalidate' },
  // A problem: a cached 404 would hide an event after its publication.
  { path: endpointPath('event', SEQ_MAX), directive: 'no-store' },
] as const

/** Requests for each path. Three equal rate limits in a row are no chance. */
const TIMES = 3

/** Headers in which a cache says where an answer comes from. */
const CACHE_STATUS = ['cache-status', 'x-cache', 'x-cache-status', 'x-proxy-cache', 'cf-cache-status']

/** Whether a proxy on the way sends an answer again that it must not keep. */
export async function cacheDiagnosis(ask: AskPath): Promise<Diagnosis> {
  for (const { path, directive } of UNCACHED) {
    const answers: Headers[] = []
    for (let times = 0; times < TIMES; times += 1) {
      const { headers, body, refusal } = await askWhole(ask, path)
      if (refusal !== null) return wrong('cache', `${path}: ${refusal}`)
      answers.push(headers)
      if (body === '') return wrong('cache', `${path} has no body: a proxy removes it`)
    }
    const fault = faultOfDirective(answers, directive) ?? signOfCache(answers)
    if (fault !== null) return wrong('cache', `${path}: ${printable(fault)}`)
  }
  return ok('cache', 'the summary, the checkpoint and problems come from the service each time')
}

type WholeAnswer = Readonly<{ headers: Headers; body: string; refusal: string | null }>

async function askWhole(ask: AskPath, path: string): Promise<WholeAnswer> {
  const answer = await ask(path)
  const body = await answer.text()
  return { headers: answer.headers, body, refusal: refusalText(answer.status, answer.headers, body) }
}

function faultOfDirective(answers: readonly Headers[], directive: string): string | null {
  const changed = answers.find(
    (headers) => !(headers.get('cache-control') ?? '').includes(directive) && headers.has('daybook-log'),
  )
  if (changed === undefined) return null
  const has = changed.get('cache-control')
  return `Cache-Control is ${has === null ? 'missing' : `“${has}”`} and lacks ${directive}: let no proxy change it`
}

/** First sign that an answer comes from a cache; null when there is none. */
function signOfCache(answers: readonly Headers[]): string | null {
  const remedy = 'let no proxy cache what Cache-Control forbids'
  for (const headers of answers) {
    const age = Number(headers.get('age') ?? 0)
    if (age > 0) return `it comes from a cache, ${age} s old: ${remedy}`
    for (const name of CACHE_STATUS) {
      const status = headers.get(name) ?? ''
      // A refresh hit was revalidated with the service.
      if (/(?:^|[^a-z])hit\b/i.test(status) && !/refresh/i.test(status))
        return `it comes from a cache (${name}: ${status}): ${remedy}`
    }
  }
  const sameIn = (name: string): boolean => {
    const [first, ...others] = answers.map((headers) => headers.get(name) ?? '')
    return first !== undefined && first !== '' && others.every((other) => other === first)
  }
  if (sameIn('daybook-request')) return `the same answer came ${answers.length} times: ${remedy}`
  if (sameIn('ratelimit')) return `the same answer came ${answers.length} times to one caller: ${remedy}`
  return null
}
