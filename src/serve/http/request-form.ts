import type { IncomingMessage } from 'node:http'
import { TARGET_CHARS_MAX } from '../../protocol/parameters.ts'
import type { Problem } from '../../protocol/problem.ts'

/** Headers a request may have; the parser keeps no more of them, and silently. */
export const HEADERS_MAX = 100

/** What a request's form is worth: fit to be answered, or why its connection is closed. */
export type FormVerdict = 'fit' | 'too-many-headers' | Problem

/** Judges what the parser lets through and should not: hosts, bodies, targets of proxies, too many headers. */
export function judgeForm(request: IncomingMessage): FormVerdict {
  if (request.rawHeaders.length >= HEADERS_MAX * 2) return 'too-many-headers'
  const hosts = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  // Checked here and not by the parser, whose own answer is closed to scripts of other sites.
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0')) {
    return { code: 'bad-request', detail: 'A request names one Host.' }
  }
  if (hasBody(request)) return { code: 'bad-request', detail: 'A request has no body here.' }
  const target = request.url ?? ''
  const wholeServer = target === '*' && request.method === 'OPTIONS'
  if (!target.startsWith('/') && !wholeServer) {
    return { code: 'bad-request', detail: 'A request’s target begins with a slash.' }
  }
  return 'fit'
}

/** What is wrong with a target that is longer than any that means something. */
export function judgeTarget({ url = '' }: IncomingMessage): Problem | undefined {
  if (url.length <= TARGET_CHARS_MAX) return undefined
  return { code: 'uri-too-long', detail: `An address has at most ${TARGET_CHARS_MAX} characters.` }
}

/** Whether a body comes, or may come: `Content-Length: 0` says that none does. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && !/^0+$/.test(length))
}

/** A target's path and its raw query, which is empty when there is none. */
export function partsOf(target: string): Readonly<{ target: string; path: string; rawQuery: string }> {
  const mark = target.indexOf('?')
  return mark < 0
    ? { target, path: target, rawQuery: '' }
    : { target, path: target.slice(0, mark), rawQuery: target.slice(mark + 1) }
}
