import { InvalidArgumentError } from 'commander'
import { areWitnesses, majorityOf, witnessNames, WITNESSES_MAX } from '../../tlog/quorum.ts'
import { parseVkey, type VerifierKey } from '../../tlog/note.ts'
import { CommandError, UsageError } from './command-error.ts'
import { NODE_PRIMITIVES } from './node-primitives.ts'

/** Witness key that the user chose. `url` is the address below which the witness answers, without a final slash. */
type ChosenWitness = Readonly<{ key: VerifierKey; url: string | null }>

/** Witnesses that the user chose, and the number of their names that must vouch for a checkpoint. */
export type WitnessChoice = Readonly<{ witnesses: readonly ChosenWitness[]; quorum: number }>

/**
 * Collects the values of a repeated `--witness`. An environment variable has several, separated by spaces. Throws on
 * none.
 */
export function collectWitnesses(text: string, before: readonly string[]): readonly string[] {
  const found = text.split(' ').filter((one) => one !== '')
  if (found.length === 0) throw new InvalidArgumentError('the value is empty')
  return [...before, ...found]
}

/**
 * Reads the values of `--witness`, `VKEY=URL` or `VKEY`, and the quorum from the option in `words`. The default quorum
 * is more than half of the names. Null without witnesses. Throws a `CommandError`, which never repeats a value.
 */
export function readWitnesses(
  texts: readonly string[],
  quorum: number | undefined,
  words: Readonly<{ quorum: '--quorum' | '--witness-quorum'; needsUrl: boolean }>,
): WitnessChoice | null {
  if (texts.length === 0) {
    if (quorum === undefined) return null
    throw new UsageError(`${words.quorum} needs --witness`)
  }
  if (texts.length > WITNESSES_MAX) throw new UsageError(`--witness: give at most ${WITNESSES_MAX}`)
  const witnesses = texts.map((text, index) => {
    const place = texts.length === 1 ? '--witness' : `--witness, number ${index + 1}`
    return readWitness(text, place, words.needsUrl)
  })
  const keys = witnesses.map(({ key }) => key)
  if (!areWitnesses(keys)) throw new UsageError('--witness: two of the keys are the same public key')
  const names = witnessNames(keys).length
  if (quorum !== undefined && !(Number.isSafeInteger(quorum) && quorum >= 1 && quorum <= names)) {
    throw new UsageError(
      `${words.quorum}: give a whole number from 1 to ${names}, the names of the witnesses`,
    )
  }
  return { witnesses, quorum: quorum ?? majorityOf(keys) }
}

function readWitness(text: string, place: string, needsUrl: boolean): ChosenWitness {
  const fault = (what: string): CommandError => new UsageError(`${place}: ${what}`)
  // The base64 of a vkey may end with `=` too.
  const [, vkey = text, address = null] = /^(.*)=(https?:\/\/.*)$/i.exec(text) ?? []
  const key = parseVkey(NODE_PRIMITIVES.sha256, vkey)
  if (key === undefined)
    throw fault(`give ${needsUrl ? 'VKEY=URL' : 'VKEY or VKEY=URL'}, with a key <name>+<id>+<base64>`)
  if (key.type === 'ed25519') throw fault('the key is that of a log: a witness has one for cosignatures')
  if (address === null && needsUrl) throw fault('give the address too: VKEY=https://…')
  return { key, url: address === null ? null : readWitnessUrl(address, fault) }
}

function readWitnessUrl(address: string, fault: (what: string) => CommandError): string {
  const url = URL.parse(address)
  if (url === null) throw fault('the address is malformed: give one such as https://witness.example.org')
  if (url.username !== '' || url.password !== '') throw fault('give the address without a name or password')
  if (/[?#]/.test(address)) throw fault('give the address without a query or fragment')
  return url.href.replace(/\/+$/, '')
}
