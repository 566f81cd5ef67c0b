import type { DatabaseSync } from 'node:sqlite'
import type { LogVersion } from '../../log/stream/log-version.ts'
import { readLogVersion } from '../../log/stream/log-version.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import type { StepParts } from './commit-step.ts'
import { commitStep, stepRefused, writersRefusal } from './commit-step.ts'

type VersionParts = StepParts &
  Readonly<{
    db: DatabaseSync
    /** The newest version that this program reads, and the first Daybook that reads it. */
    newest: LogVersion
  }>

/** The version that messages of the log may have now. `isRaised`: this call has raised it. */
type RaisedVersion = Readonly<{ ok: true; isRaised: boolean }> & LogVersion

/**
 * Lets the messages of the log have the newest version that this program reads. Refuses while a writer does not read it.
 * A repeated call changes nothing.
 */
export async function raiseLogVersion(parts: VersionParts): Promise<RaisedVersion | FailedOutcome> {
  const { db, book, newest } = parts
  const isOld = (): boolean => readLogVersion(db).frames < newest.frames
  if (!isOld()) return { ok: true, isRaised: false, ...newest }
  const unready = writersRefusal(parts, ({ frames }) =>
    frames.includes(newest.frames)
      ? null
      : `reads no messages of version ${newest.frames}: install Daybook ${newest.needs} or newer there`,
  )
  if (unready !== null) return stepRefused(unready)
  let isRaised = false
  const end = await commitStep(parts, () => {
    isRaised = isOld()
    if (isRaised) book.build({ is: 'version', ...newest })
  })
  return end.is === 'failed' ? end.outcome : { ok: true, isRaised, ...newest }
}
