import { type Captures, capturesIn, type Fault, filled, runCheck, TOO_LONG } from './check.ts'
import { fieldsFault } from './fields.ts'
import {
  type ConformRun,
  HELD,
  type LogSize,
  notApplicable,
  type ConformPart,
  type SentenceVerdict,
} from './part.ts'
import { parseScript, type SizeNeed, type Step } from './script.ts'
import { ANSWER_BYTES_MAX, type SentAnswer, type SentRequest, unansweredBy } from './sender.ts'

/** Most times that steps are asked again, at once, because the log moved between them. */
export const MOVED_MAX = 3
/** Need of a step that compares answers of one seq. */
export const STANDING_LOG = 'a log that stands still for two requests'

/** The part of a script. */
export function scriptPart(name: string, text: string): ConformPart {
  const steps = parseScript(text)
  return {
    name,
    sentences: steps.map((step) => step.name),
    requests: steps.length,
    run: (run) => runSteps(steps, run),
  }
}

/** State of a running script. */
type ScriptRun = ConformRun &
  Readonly<{
    captures: Captures
    /** Reasons of missing captures, by name. */
    missing: Map<string, SentenceVerdict>
  }>

async function runSteps(steps: readonly Step[], run: ConformRun): Promise<readonly SentenceVerdict[]> {
  const script: ScriptRun = { ...run, captures: new Map(), missing: new Map() }
  const verdicts: SentenceVerdict[] = []
  const moved = new Map<Step, number>()
  /** Steps before this index were reserved, to follow each other at once. */
  let reserved = 0
  for (let at = 0; at < steps.length; at = verdicts.length) {
    const step = steps[at]
    if (step === undefined) break
    const verdict = await runStep(step, script, at < reserved)
    if (verdict !== 'moved') {
      verdicts.push(verdict)
      continue
    }
    const times = (moved.get(step) ?? 0) + 1
    moved.set(step, times)
    if (times > MOVED_MAX) {
      verdicts.push(lost(step, script, notApplicable(STANDING_LOG)))
      continue
    }
    // The steps from the one that captured the seq are asked again.
    verdicts.length = capturedAt(steps, at, step.still)
    reserved = at + 1
    await script.sender.reserve(step.target, reserved - verdicts.length)
  }
  return verdicts
}

/** Index of the last step before `at` that captures this name. */
function capturedAt(steps: readonly Step[], at: number, name: string | null): number {
  return steps.slice(0, at).findLastIndex(({ checks }) => checks.some(({ capture }) => capture === name))
}

/** Asks one step and checks its answer. `moved` means that the log has moved on since the seq was captured. */
async function runStep(step: Step, script: ScriptRun, reserved: boolean): Promise<SentenceVerdict | 'moved'> {
  const { captures, sender } = script
  const lack = lackOf(step, script)
  if (lack !== undefined) {
    forget(step, captures)
    return lost(step, script, lack)
  }
  const request: SentRequest = {
    method: step.method,
    target: filled(step.target, captures),
    headers: Object.fromEntries(
      Object.entries(step.headers).map(([name, value]) => [name, filled(value, captures)]),
    ),
    until: step.until === null ? null : filled(step.until, captures),
    reserved,
  }
  const stillSeq = captures.get(step.still ?? '')
  forget(step, captures)
  const shown = requestText(request)
  let answer: SentAnswer
  try {
    answer = await sender.send(request)
  } catch (error) {
    const fault = { wanted: 'an answer', was: unansweredBy(error).message }
    return lost(step, script, { is: 'broken', request: shown, faults: [fault] })
  }
  const seq = answer.headers.get('daybook-seq')
  if (step.still !== null && seq !== null && seq !== stillSeq) return 'moved'
  script.onAnswer?.(request, answer)
  const verdict = checkAnswer(step, request, answer, captures)
  return verdict.is === 'held' ? verdict : lost(step, script, verdict)
}

function checkAnswer(
  step: Step,
  request: SentRequest,
  answer: SentAnswer,
  captures: Captures,
): SentenceVerdict {
  const faults: Fault[] = []
  let isTooLong = false
  for (const check of step.checks) {
    const fault = runCheck(check, answer, captures)
    if (fault === TOO_LONG) isTooLong = true
    else if (fault !== null && check.needs !== null && faults.length === 0) return notApplicable(check.needs)
    else if (fault !== null) faults.push(fault)
  }
  const fields = request.method === 'GET' ? fieldsFault(request.target, answer) : null
  if (fields !== null) faults.push(fields)
  if (faults.length > 0) return { is: 'broken', request: requestText(request), faults }
  return isTooLong ? notApplicable(`an answer of ${ANSWER_BYTES_MAX} bytes at most`) : HELD
}

/** Reason not to ask a step; undefined when it can be asked. */
function lackOf(step: Step, { captures, missing, log }: ScriptRun): SentenceVerdict | undefined {
  const size = step.sizes.find((each) => !fits(each, log))
  if (size !== undefined) return notApplicable(size.text)
  const texts = [step.target, ...Object.values(step.headers), step.until ?? '', `$${step.still ?? ''}`]
  const names = [...texts, ...step.checks.map(({ value }) => value)].flatMap(capturesIn)
  const own = new Set(step.checks.map(({ capture }) => capture))
  const lacking = names.find((name) => !own.has(name) && !captures.has(name))
  return lacking === undefined ? undefined : missing.get(lacking)
}

/** Forgets what an earlier step captured under the names of this one. */
function forget(step: Step, captures: Captures): void {
  for (const { capture } of step.checks) if (capture !== null) captures.delete(capture)
}

const fits = ({ fewer, count, unit }: SizeNeed, log: LogSize): boolean =>
  fewer ? log[unit] < count : log[unit] >= count

/** Notes why the captures of a step are missing. Returns its verdict. */
function lost(step: Step, { captures, missing }: ScriptRun, verdict: SentenceVerdict): SentenceVerdict {
  const later: SentenceVerdict =
    verdict.is === 'broken' ? { is: 'not asked', why: `it needs the answer to: ${step.name}` } : verdict
  for (const { capture } of step.checks) {
    if (capture !== null && !captures.has(capture)) missing.set(capture, later)
  }
  return verdict
}

/** A request as one line, with its headers. */
export function requestText({ method, target, headers = {} }: SentRequest): string {
  const wishes = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${target}`, ...wishes].join(' | ')
}
