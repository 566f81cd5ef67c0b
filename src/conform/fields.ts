import type { z } from 'zod'
import { ENDPOINTS } from '../protocol/endpoints/endpoints.ts'
import type { Fault } from './check.ts'
import type { SentAnswer } from './sender.ts'

/** Paths of the JSON answers that have a schema. */
const DESCRIBED = ENDPOINTS.flatMap(({ path, answer, schema }) =>
  schema === undefined
    ? []
    : [{ answer, schema, form: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`, 'u') }],
)

/**
 * Compares the fields of a JSON answer with the schema of its endpoint, which is that of the OpenAPI document. Further
 * fields are allowed: another version of the service may have more. Returns null when they fit, or have no schema.
 */
export function fieldsFault(target: string, answer: SentAnswer): Fault | null {
  const path = target.split('?', 1)[0] ?? ''
  const found = DESCRIBED.find(({ form }) => form.test(path))
  const type = answer.headers.get('content-type') ?? ''
  if (found === undefined || answer.code !== 200 || answer.isCut || !type.startsWith('application/json'))
    return null
  const wanted = `the fields of ${found.answer} in the OpenAPI document`
  try {
    const was = firstIssue(found.schema.safeParse(answer.json()).error?.issues ?? [])
    return was === undefined ? null : { wanted, was }
  } catch {
    return { wanted, was: 'no JSON' }
  }
}

/** The first issue that is more than a further field, with its place; undefined when there is none. */
function firstIssue(issues: readonly z.core.$ZodIssue[]): string | undefined {
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') continue
    // An alternative fits when it lacks nothing else.
    if (issue.code === 'invalid_union' && issue.errors.some((each) => firstIssue(each) === undefined))
      continue
    return `${issue.path.join('.')}: ${issue.message}`
  }
  return undefined
}
