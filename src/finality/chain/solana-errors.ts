import { asCount, asList, asObject, asText, hasFields } from '../rpc/answer-shapes.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import { cleanMessage } from '../rpc/server-reply.ts'

/**
 * Names in Agave of errors of a transaction in a block, without further values. Errors of an attempt, such as
 * `AlreadyProcessed` and `BlockhashNotFound`, are left out, because the transaction may have succeeded before, or may
 * succeed later.
 */
const PLAIN_ERRORS: ReadonlySet<string> = new Set(
  `AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee
  CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure
  AccountBorrowOutstanding UnsupportedVersion InvalidWritableAccount TooManyAccountLocks AddressLookupTableNotFound
  InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount
  MaxLoadedAccountsDataSizeExceeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction`.split(/\s+/),
)
const INSTRUCTION_ERROR = /^[A-Z][A-Za-z]{0,63}$/

/**
 * Error of a transaction as a message for the operator; null when it succeeded. Throws `RpcFailure` of `wrong-type` for
 * anything that is not a known error, because an error causes a second payment. `secrets` are those of the URL.
 */
export function transactionError(err: unknown, secrets: readonly string[]): string | null {
  if (err === null) return null
  const message = cleanMessage(textOf(err), secrets)
  if (isKnown(err)) return message
  throw new RpcFailure('wrong-type', { code: 'none', message: `unknown error of a transaction: ${message}` })
}

/** JSON of a value, or its text. A server may nest a value too deeply to write it again. */
function textOf(err: unknown): string {
  if (typeof err === 'string') return err
  try {
    return JSON.stringify(err) ?? 'none'
  } catch {
    return 'too deep'
  }
}

function isKnown(err: unknown): boolean {
  if (typeof err === 'string') return PLAIN_ERRORS.has(err)
  try {
    return isErrorWithValue(err)
  } catch (error) {
    if (error instanceof RpcFailure) return false
    throw error
  }
}

/** Throws `RpcFailure` for a value of another form. */
function isErrorWithValue(err: unknown): boolean {
  const [name, value] = onlyMember(err)
  switch (name) {
    case 'InstructionError': {
      const [index, inner, ...further] = asList(value)
      return asCount(index) <= 255 && further.length === 0 && isInstructionError(inner)
    }
    case 'DuplicateInstruction':
      return asCount(value) <= 255
    case 'InsufficientFundsForRent':
    case 'ProgramExecutionTemporarilyRestricted':
      return asCount(asObject(value)['account_index']) <= 255
    default:
      return false
  }
}

/** Any name of an instruction's error is accepted, because programs may fail in new ways. */
function isInstructionError(inner: unknown): boolean {
  if (typeof inner === 'string') return INSTRUCTION_ERROR.test(inner)
  const [name, value] = onlyMember(inner)
  switch (name) {
    case 'Custom':
      return asCount(value) < 2 ** 32
    case 'BorshIoError':
      return asText(value) !== ''
    default:
      return false
  }
}

/** Name and value of an object's only field. Without a single field, the name is empty. */
function onlyMember(value: unknown): readonly [name: string, value: unknown] {
  const members = hasFields(value) ? Object.entries(value) : []
  const [member = ['', null]] = members
  return members.length === 1 ? member : ['', null]
}
