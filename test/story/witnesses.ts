import { keepWitnessed } from '../../src/log/witnessed/witnessed-file.ts'
import type { Witnessed } from '../../src/log/store/reader.ts'
import { msOf, SECOND_MS } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'
import { readCheckpoint } from '../../src/tlog/checkpoint.ts'
import { cosignText } from '../../src/tlog/cosignature.ts'
import { formatNote, formatVkey, parseNote, type Sign, type VerifierKey } from '../../src/tlog/note.ts'
import { keyOfSeed, mlDsaKeyOfSeed, sha256 } from '../tlog/example.ts'

type WitnessKey = Readonly<{ key: VerifierKey; sign: Sign }>

const seedOf = (text: string): Uint8Array => sha256(Buffer.from(text))
const ed25519Of = (name: string): WitnessKey => keyOfSeed(name, 'ed25519-cosignature', seedOf(name))

/** Three witnesses of tests with Ed25519 keys, whose cosignatures are the same at every run. */
export const WITNESSES: readonly WitnessKey[] = ['one', 'two', 'three'].map((word) =>
  ed25519Of(`witness.example/${word}`),
)

/** ML-DSA-44 key of the first witness. Its cosignatures are other bytes at every run. */
export const ML_DSA_WITNESS: WitnessKey = mlDsaKeyOfSeed('witness.example/one', seedOf('ml-dsa-44'))

type CosignedSettings = Readonly<{
  /** Keys that cosign; all keys by default. */
  by?: readonly WitnessKey[]
  /** All keys of the log's witnesses; `WITNESSES` by default. */
  keys?: readonly WitnessKey[]
  /** Time of the cosignatures, in whole seconds since 1970. */
  timeSeconds?: number
}>

/** State of a log whose witnesses have cosigned a checkpoint. Two are a quorum. */
export function cosignedState(
  checkpoint: string,
  { keys = WITNESSES, by = keys, timeSeconds = 1_787_702_265 }: CosignedSettings = {},
): Witnessed {
  const [parsed, read] = [parseNote(Buffer.from(checkpoint)), readCheckpoint(Buffer.from(checkpoint))]
  if (!parsed.ok || !read.ok) throw new Error('only a checkpoint can be cosigned')
  const { text, signatures } = parsed.value
  const cosignatures = by.map(({ key, sign }) => cosignText(key, sign, timeSeconds, text))
  const note = formatNote({ text, signatures: [...signatures, ...cosignatures] })
  const [seq, atMs] = [seqOf(read.value.checkpoint.size), msOf(timeSeconds * SECOND_MS)]
  return {
    quorum: 2,
    witnesses: keys.map((one) => {
      const listed = { vkey: formatVkey(one.key), url: `https://${one.key.name}` }
      return by.includes(one)
        ? { ...listed, state: 'cosigning', seq, atMs }
        : { ...listed, state: 'silent', seq: null, atMs: null }
    }),
    newest: new Set(by.map(({ key }) => key.name)).size < 2 ? null : { seq, atMs, note },
  }
}

/** Lets the witnesses of tests cosign the newest checkpoint of a running service, as a feeder would. */
export async function cosignNewest(
  service: Readonly<{ data: string } & ({ url: string } | { port: number })>,
): Promise<void> {
  const base = 'url' in service ? service.url : `http://127.0.0.1:${service.port}`
  const checkpoint = await (await fetch(`${base}/api/v1/log/checkpoint`)).text()
  keepWitnessed(service.data, cosignedState(checkpoint))
}
