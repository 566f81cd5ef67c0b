import { formatAt, msOf } from '../../protocol/moment.ts'
import { formatVkey } from '../../tlog/vkey.ts'
import { type Cosigner, originHashOf } from './cosigner.ts'

/** The page of a witness as plain text: its name and keys, the logs with their sizes, and how to use it. */
export function witnessPage({
  name,
  verifiers,
  sizes,
}: Pick<Cosigner, 'name' | 'verifiers' | 'sizes'>): string {
  const logs = sizes().map(({ origin, size, time }) => {
    const seen =
      size === null || time === null
        ? 'nothing cosigned yet'
        : `size ${size}, cosigned ${formatAt(msOf(time * 1_000))}`
    return `${origin}\n  ${seen}\n  /${originHashOf(origin)}/checkpoint`
  })
  return `${name} is a witness of transparency logs.

It cosigns a checkpoint only if it continues the one that it cosigned before, so that
nobody can show two histories of a log with its cosignatures.

Verifier keys (vkeys). Compare them with those that its operator has published elsewhere:

${verifiers.map(formatVkey).join('\n')}

Logs:

${logs.join('\n')}

Operators of these logs send checkpoints to /add-checkpoint, as https://c2sp.org/tlog-witness
says. A Daybook does so with --witness VKEY=URL: a vkey above, and the address of this page.
`
}
