import { appendFileSync } from 'node:fs'
import { request } from 'node:http'
import { isMainThread } from 'node:worker_threads'
import { backUp } from '../../../src/command/backups/backup-command.ts'
import { contextOf } from '../../stage/command-stage.ts'

/**
 * Loaded into `daybook serve` before its own code (`--import`): drives the service from inside its own process, so that a
 * run needs one process only. Publishes the requests of `DRIVEN_NODE`, backs up, and stops the service. Appends the
 * outcome of each step to `DRIVEN_OUTCOMES` as a line of JSON.
 */
export type DrivenOutcome = Readonly<{
  step: 'publish' | 'backup'
  /** Status of the answer, or exit code of the backup; 0 when there was no answer. */
  status: number
  /** Code of the problem. */
  code: string
  refs: readonly string[]
  seqs: readonly number[]
}>

/** Drafts and files of a driven service. */
export type Driven = Readonly<{
  requests: readonly (readonly object[])[]
  token: string
  data: string
  /** Folder of a backup; none when empty. */
  backups: string
}>

const PUBLISH_MS_MAX = 60_000

/** Publishes from inside the process. Returns null when the publish API gives no whole answer. */
function post(
  publishUrl: string,
  { token }: Driven,
  body: string,
): Promise<readonly [number, string] | null> {
  return new Promise((resolve) => {
    const asked = request(`${publishUrl}/publish`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      timeout: PUBLISH_MS_MAX,
    })
    asked.on('response', (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => resolve([answer.statusCode ?? 0, text]))
      answer.on('error', () => resolve(null))
    })
    asked.on('error', () => resolve(null))
    asked.end(body)
  })
}

async function drive(
  publishUrl: string,
  driven: Driven,
  tell: (outcome: DrivenOutcome) => void,
): Promise<void> {
  const { data, backups } = driven
  for (const drafts of driven.requests) {
    const refs = drafts.map((draft) => String(Reflect.get(draft, 'ref')))
    const [status, text] = (await post(publishUrl, driven, JSON.stringify(drafts))) ?? [0, '{}']
    const body = JSON.parse(text) as { drafts?: { seq: number }[]; code?: string }
    const seqs = (body.drafts ?? []).map(({ seq }) => seq)
    tell({ step: 'publish', status, code: body.code ?? '', refs, seqs })
  }
  if (backups !== '') await backUpOnce(data, backups, tell)
  process.kill(process.pid, 'SIGTERM')
}

async function backUpOnce(
  data: string,
  backups: string,
  tell: (outcome: DrivenOutcome) => void,
): Promise<void> {
  const settings = { data, to: backups, keepDays: 30, isFull: false, keys: [] }
  try {
    const status = await backUp(settings, contextOf({ stdout: process.stdout, stderr: process.stderr }))
    tell({ step: 'backup', status, code: '', refs: [], seqs: [] })
  } catch (error) {
    const code = error instanceof Error ? error.message : 'not an error'
    tell({ step: 'backup', status: 1, code, refs: [], seqs: [] })
  }
}

if (isMainThread) {
  const driven = JSON.parse(process.env['DRIVEN_NODE'] ?? '{}') as Driven
  const outcomes = process.env['DRIVEN_OUTCOMES'] ?? ''
  const write = process.stderr.write.bind(process.stderr)
  let said = ''
  const listen = (chunk: unknown, ...rest: unknown[]): boolean => {
    said += String(chunk)
    const publishUrl = /publish API on (http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1]
    if (publishUrl !== undefined) {
      Reflect.set(process.stderr, 'write', write)
      void drive(publishUrl, driven, (outcome) => appendFileSync(outcomes, `${JSON.stringify(outcome)}\n`))
    }
    return Reflect.apply(write, process.stderr, [chunk, ...rest]) as boolean
  }
  Reflect.set(process.stderr, 'write', listen)
}
