/** One request of a script, and the checks of its answer. */
export type Step = Readonly<{
  /** The sentence above the request, or else the request itself. */
  name: string
  method: string
  target: string
  headers: Readonly<Record<string, string>>
  /** Text that ends the reading of an endless answer; null reads to the end. */
  until: string | null
  /** Sizes of the log without which the step says nothing. */
  sizes: readonly SizeNeed[]
  /** Name of a captured seq, which the header `Daybook-Seq` of the answer must still have; null for none. */
  still: string | null
  checks: readonly ScriptCheck[]
}>

/** Size of a log that a step needs: at least this many events or days, or fewer. */
export type SizeNeed = Readonly<{ fewer: boolean; count: number; unit: 'events' | 'days'; text: string }>

/** One check of an answer. */
export type ScriptCheck = Readonly<{
  /** The check as the script writes it. */
  line: string
  part: 'code' | 'header' | 'body' | 'json' | 'sha256'
  /** Name of a header, or dotted path in the JSON. */
  path: string
  test: '==' | '!=' | '>=' | '<=' | 'contains' | 'matches' | 'absent' | null
  value: string
  /** Name under which the value is captured for later steps; null for none. */
  capture: string | null
  /** A fact that the log needs for this check, such as `a closed month`. Without it the step is not applicable. */
  needs: string | null
}>

/** A script never sends a body, and asks by POST only for a refusal. */
const REQUEST = /^(GET|HEAD|OPTIONS|POST) ([/$]\S*)$/
const HEADER = /^([A-Za-z][A-Za-z0-9-]*): (.*)$/
const SIZE = /^needs ((fewer than )?([\d,]+) (events?|days?))$/
const STILL = /^still \$(\w+)$/
const CHECK =
  /^(?:needs (?<needs>[^:]+): )?(?:capture (?<name>\w+) = )?(?<part>code|header|body|json|sha256)(?: (?<path>[^"=\s]\S*))??(?: (?<test>==|!=|>=|<=|contains|matches|absent)(?: (?<value>.*))?)?$/

/** Parses a script: sentences after `#`, a request, its header lines, and checks. Throws on any other line. */
export function parseScript(text: string): readonly Step[] {
  const steps: Step[] = []
  let sentence: string[] = []
  const change = (fields: Partial<Step>): void => {
    const step = steps.pop()
    if (step !== undefined) steps.push({ ...step, ...fields })
  }
  for (const line of text.split('\n').map((each) => each.trim())) {
    const step = steps.at(-1)
    const [, method, target] = REQUEST.exec(line) ?? []
    if (line === '') continue
    if (line.startsWith('#')) {
      sentence.push(line.slice(1).trim())
    } else if (method !== undefined && target !== undefined) {
      const name = sentence.join(' ') || `${method} ${target}`
      steps.push({ name, method, target, headers: {}, until: null, sizes: [], still: null, checks: [] })
      sentence = []
    } else if (step !== undefined) {
      change(fieldsOf(line, step))
    } else {
      throw unknownLine(line)
    }
  }
  return steps
}

/** Fields of a step with one more line. */
function fieldsOf(line: string, step: Step): Partial<Step> {
  const size = SIZE.exec(line)
  if (size !== null) return { sizes: [...step.sizes, sizeOf(size)] }
  if (line.startsWith('until ')) return { until: line.slice('until '.length) }
  const still = STILL.exec(line)?.[1]
  if (still !== undefined) return { still }
  const [, header, value] = HEADER.exec(line) ?? []
  if (header !== undefined && value !== undefined) return { headers: { ...step.headers, [header]: value } }
  const check = parseCheck(line)
  if (check === undefined) throw unknownLine(line)
  return { checks: [...step.checks, check] }
}

function sizeOf([, text = '', fewer, count = '', unit]: RegExpExecArray): SizeNeed {
  return {
    fewer: fewer !== undefined,
    count: Number(count.replaceAll(',', '')),
    unit: unit?.startsWith('day') === true ? 'days' : 'events',
    text,
  }
}

/** Parses one check; undefined for anything else. */
export function parseCheck(line: string): ScriptCheck | undefined {
  const found: Readonly<Record<string, string | undefined>> | undefined = CHECK.exec(line)?.groups
  if (found === undefined) return undefined
  const { needs = null, name = null, part, path = '', test = null, value = '' } = found
  const own = line.replace(/^needs [^:]+: /, '')
  return {
    line: own,
    part: PARTS.find((each) => each === part) ?? 'body',
    path,
    test: TESTS.find((each) => each === test) ?? null,
    value,
    capture: name,
    needs,
  }
}

const PARTS = ['code', 'header', 'body', 'json', 'sha256'] as const
const TESTS = ['==', '!=', '>=', '<=', 'contains', 'matches', 'absent'] as const

function unknownLine(line: string): Error {
  return new Error(`not a request, header or check of a script: ${line}`)
}
