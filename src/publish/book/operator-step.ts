import type { DatabaseSync } from 'node:sqlite'
import { genesisOf, isGenesisOf } from '../../log/message/genesis.ts'
import type { MessageBody, SealCause } from '../../log/message/message.ts'
import { MESSAGE_VERSION } from '../../log/message/message.ts'
import type { ListedKey } from '../../log/store/reader.ts'
import { readIdentity } from '../../log/store/store.ts'
import type { LogVersion } from '../../log/stream/log-version.ts'
import { writeLogVersion } from '../../log/stream/log-version.ts'
import { assert } from '../../protocol/brand.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { listKeys, readKeys, replaceKeys } from '../../log/tree/signing-keys.ts'
import { Unfitting } from './followed-commit.ts'

/**
 * A step of the operator, in a message of its own.
 *
 * - `keys`: these keys sign the log from now on. Every writer must have them before.
 * - `version`: messages may have the version `frames` from now on, which Daybook `needs` reads.
 * - `seal`: nothing more is appended in this stream. `why` says where the log goes on.
 * - `genesis`: begins the stream after a sealed one.
 */
export type OperatorStep =
  | Readonly<{ is: 'keys'; keys: readonly SigningKey[] }>
  | (Readonly<{ is: 'version' }> & LogVersion)
  | Readonly<{ is: 'seal'; why: SealCause }>
  | Readonly<{ is: 'genesis' }>

/** Content of a message that is no commit. */
export type StepBody = Exclude<MessageBody, { is: 'commit' }>

/** The log as a step finds it. */
export type PresentLog = Readonly<{
  head: number
  root: Uint8Array
  stream: number
  /** Reason for the end of the stream before, when the present one has not begun; null otherwise. */
  sealed: SealCause | null
}>

/** Content of the message of a step, in the caller's transaction. Throws a StoreError for keys that it must not use. */
export function bodyOfStep(
  db: DatabaseSync,
  step: OperatorStep,
  { head, root, stream, sealed }: PresentLog,
): StepBody {
  switch (step.is) {
    case 'keys': {
      const { keys } = step
      listKeys(db, { origin: readIdentity(db).origin, size: head, keys, acceptNewKey: false })
      return { is: 'keys', head, keys: readKeys(db) }
    }
    case 'version':
      return step
    case 'seal':
      return { is: 'seal', head, root, next: stream + 1, why: step.why }
    case 'genesis':
      assert(sealed === 'roll', 'only a roll leads to the next stream')
      return genesisOf(db)
  }
}

/** Applies a step, in the caller's transaction. Throws `Unfitting`. */
export function applyStep(
  db: DatabaseSync,
  body: StepBody,
  { head, root, stream, sealed }: PresentLog,
): void {
  switch (body.is) {
    case 'keys':
      if (body.head !== head)
        throw new Unfitting(`it changes the keys at seq ${body.head} instead of ${head}`)
      refuseOtherKeys(readKeys(db), body.keys)
      return replaceKeys(db, body.keys)
    case 'version':
      if (body.frames > MESSAGE_VERSION)
        throw new Unfitting(
          `messages of version ${body.frames} follow: install Daybook ${body.needs} or newer`,
        )
      return writeLogVersion(db, body)
    case 'seal':
      if (body.next !== stream + 1 || body.head !== head || Buffer.compare(body.root, root) !== 0)
        throw new Unfitting(`it seals the stream with another log than this one at seq ${head}`)
      return
    case 'genesis':
      if (sealed !== 'roll')
        throw new Unfitting('it begins a stream after a seal that does not lead to another one')
      if (!isGenesisOf(db, body))
        throw new Unfitting(`it begins a stream with another log than this one at seq ${head}`)
  }
}

/** Refuses a list of keys that forgets a key of the log, or says otherwise of its beginning. */
function refuseOtherKeys(known: readonly ListedKey[], next: readonly ListedKey[]): void {
  for (const { vkey, fromSize, statement } of known) {
    const same = next.find((key) => key.vkey === vkey)
    if (same?.fromSize !== fromSize || same.statement !== statement) {
      throw new Unfitting('its list of keys contradicts that of this log')
    }
  }
}
