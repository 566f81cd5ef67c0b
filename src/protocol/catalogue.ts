import { keysOf } from './brand.ts'
import { EVENT_TYPES, type EventType, type Rule, type RuledType, type RuleKind, RULES } from './rules.ts'

/** Fixed kinds of the types that also take the operator's own words. */
type ReservedKind = {
  [Type in RuledType]: '*' extends RuleKind<Type> ? Exclude<RuleKind<Type>, '*'> : never
}[RuledType]

const RESERVED: Readonly<Record<ReservedKind, true>> = {
  refund: true,
  loyalty: true,
  sponsor: true,
  returned: true,
}

/** Kinds that only the rules that name them may use. */
export const RESERVED_KINDS: ReadonlySet<string> = new Set(keysOf(RESERVED))

const BY_NAME: ReadonlyMap<string, Rule> = new Map(RULES.map((rule) => [`${rule.type}/${rule.kind}`, rule]))

/** Rule of a type and kind; undefined for an unknown pair, and for a reserved kind without a rule. */
export function ruleOf(type: string, kind: string): Rule | undefined {
  const fixed = BY_NAME.get(`${type}/${kind}`)
  if (fixed !== undefined || RESERVED_KINDS.has(kind)) return kind === '*' ? undefined : fixed
  return BY_NAME.get(`${type}/*`)
}

const TYPE_SET: ReadonlySet<string> = new Set(EVENT_TYPES)

export function isEventType(text: string): text is EventType {
  return TYPE_SET.has(text)
}

/** Form of types and kinds. */
export const WORD: RegExp = /^[a-z][a-z0-9_]{0,31}$/
