import { newerWitnessed, vouchedCheckpoint } from '../../log/witnessed/vouched-checkpoint.ts'
import { keepWitnessed, openWitnessedFile } from '../../log/witnessed/witnessed-file.ts'
import type { Witnessed, WitnessedCheckpoint } from '../../log/store/reader.ts'
import { seqOf } from '../../protocol/seq.ts'
import { type NoteSignature, parseNote } from '../../tlog/note.ts'
import { formatVkey } from '../../tlog/vkey.ts'
import type { FeedChoice } from './feed-settings.ts'
import type { FedTree, Peer } from './fed-witness.ts'

/** The cosignatures that were gathered for the newest tree, and the newest one with a quorum, which is kept in a file. */
type WitnessedNotes = Readonly<{
  newest(): WitnessedCheckpoint | null
  /** Adds the cosignatures of a tree. Returns the checkpoint when a quorum vouches for a newer tree, or at a later time. */
  add(tree: FedTree, signatures: readonly NoteSignature[]): Promise<WitnessedCheckpoint | null>
  /** Writes the file, if it changes. Throws when it cannot be written. */
  keep(peers: readonly Peer[]): void
}>

/**
 * Reads the file of an earlier run, and opens the gathering. A quorum of witnesses that are no longer chosen is dropped, and
 * so is the file of another log: one that continues a former log after a loss is new to its witnesses.
 */
export async function openWitnessedNotes(
  dataDirectory: string,
  origin: string,
  { witnesses, quorum }: FeedChoice,
): Promise<WitnessedNotes & Readonly<{ earlier: Witnessed | null }>> {
  const keys = witnesses.map(({ key }) => key)
  const found = openWitnessedFile(dataDirectory)()
  const earlier = found?.newest?.note.startsWith(`${origin}\n`) === true ? found : null
  let newest = await stillWitnessed(earlier?.newest ?? null)
  let kept = ''
  let gathered: Readonly<{ text: string; lines: ReadonlyMap<string, NoteSignature> }> = {
    text: '',
    lines: new Map(),
  }

  async function stillWitnessed(former: WitnessedCheckpoint | null): Promise<WitnessedCheckpoint | null> {
    const note = former === null ? null : parseNote(Buffer.from(former.note))
    if (former === null || note === null || !note.ok) return null
    return await vouchedCheckpoint(note.value, former.seq, { keys, quorum })
  }

  return {
    earlier,
    newest: () => newest,
    async add({ text, note, size }, signatures) {
      const lines = new Map(gathered.text === text ? gathered.lines : [])
      for (const line of signatures) lines.set(`${line.name} ${line.keyId}`, line)
      gathered = { text, lines }
      const own = parseNote(Buffer.from(note))
      if (!own.ok) return null
      // In the order of the choice, so that the same cosignatures are the same note.
      const cosignatures = keys.flatMap(({ name, keyId }) => lines.get(`${name} ${keyId}`) ?? [])
      const whole = { text, signatures: [...own.value.signatures, ...cosignatures] }
      const vouched = await vouchedCheckpoint(whole, size, { keys, quorum })
      if (vouched === null || gathered.lines !== lines) return null
      newest = newerWitnessed(newest, vouched)
      return newest === vouched ? vouched : null
    },
    keep(peers) {
      const witnessed = { quorum, witnesses: peers.flatMap(rowsOf), newest }
      const text = JSON.stringify(witnessed)
      if (text === kept) return
      keepWitnessed(dataDirectory, witnessed)
      kept = text
    },
  }
}

function rowsOf({ keys, url, state, cosigned }: Peer): Witnessed['witnesses'] {
  const seq = cosigned.atMs === null ? null : seqOf(cosigned.size)
  return keys.map((key) => ({ vkey: formatVkey(key), url, state, seq, atMs: cosigned.atMs }))
}
