/** Outcomes of a request to `add-checkpoint`, by name. */
export const COSIGNER_OUTCOMES = [
  'cosigned',
  'repeated',
  'malformed',
  'unknown-log',
  'unsigned',
  'conflict',
  'inconsistent',
  'unproved',
  'rate-limited',
  'state-back',
  'clock',
  'unwritten',
] as const
export type CosignerOutcome = (typeof COSIGNER_OUTCOMES)[number]

/** Answer to a request to `add-checkpoint` (C2SP tlog-witness). */
export type CosignerAnswer = Readonly<{
  status: 200 | 400 | 403 | 404 | 409 | 422 | 429 | 503
  outcome: CosignerOutcome
  contentType: string
  body: string
  /** Seconds before a retry; null if a retry would not help. */
  retryAfterSeconds: number | null
}>

const PLAIN = 'text/plain; charset=utf-8'

const STATUS: Readonly<
  Record<Exclude<CosignerOutcome, 'cosigned' | 'repeated' | 'conflict'>, 400 | 403 | 404 | 422 | 429 | 503>
> = {
  malformed: 400,
  'unknown-log': 404,
  unsigned: 403,
  inconsistent: 422,
  unproved: 503,
  'rate-limited': 429,
  'state-back': 503,
  clock: 503,
  unwritten: 503,
}

/** Answer with our cosignature lines. */
export function cosignedAnswer(outcome: 'cosigned' | 'repeated', lines: string): CosignerAnswer {
  return { status: 200, outcome, contentType: PLAIN, body: lines, retryAfterSeconds: null }
}

/** Answer with the size of the newest cosigned tree. */
export function conflictAnswer(size: number): CosignerAnswer {
  const contentType = 'text/x.tlog.size'
  return { status: 409, outcome: 'conflict', contentType, body: `${size}\n`, retryAfterSeconds: null }
}

/** Refusal with its reason, which repeats nothing of the request. */
export function refusedAnswer(
  outcome: keyof typeof STATUS,
  reason: string,
  retryAfterSeconds: number | null = null,
): CosignerAnswer {
  return { status: STATUS[outcome], outcome, contentType: PLAIN, body: `${reason}\n`, retryAfterSeconds }
}
