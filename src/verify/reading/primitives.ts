import type { Sha256 } from '../../tlog/hash.ts'
import type { WitnessVerification } from '../../tlog/quorum.ts'

/** SHA-256 of bytes that arrive in pieces. */
type RunningSha256 = Readonly<{ update(bytes: Uint8Array): void; digest(): Uint8Array }>

/** Cryptographic functions of the runtime. None of them comes from the service that is verified. */
export type Primitives = WitnessVerification &
  Readonly<{
    sha256: Sha256
    openSha256(): RunningSha256
  }>
