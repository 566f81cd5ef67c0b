import { asCount, asList, asObject, asText, hasFields } from './rpc/answer-shapes.ts'
import { RpcFailure } from './rpc/rpc-failure.ts'

/**
 * Errors of a transaction in a block, without further values: the names of Agave. Those that tell of an attempt, such as
 * `AlreadyProcessed` and `BlockhashNotFound`, are left out: the transaction may have succeeded before, or may yet.
 */
const PLAIN_ERRORS: ReadonlySet<string> = new Set(
  `AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee
  CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure
  AccountBorrowOutstanding UnsupportedVersion InvalidWritableAccount TooManyAccountLocks AddressLookupTableNotFound
  InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount
  MaxLoadedAccountsDataSizeExceeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction`.split(/\s+/),
)
const INSTRUCTION_ERROR = /^[A-Z][A-Za-z]{0,63}$/
const REASON_CHARS_MAX = 200

/**
 * Error of a transaction as text for the operator, printable, in one line and bounded; null when it succeeded. Throws
 * `RpcFailure` of `wrong-type` for anything that is not known to be an error: the payment would be made again.
 */
export function transactionError(err: unknown): string | null {
  if (err === null) return null
  if (typeof err === 'string' ? PLAIN_ERRORS.has(err) : isErrorWithValue(err)) {
    const text = typeof err === 'string' ? err : JSON.stringify(err)
    return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, REASON_CHARS_MAX)
  }
  throw new RpcFailure('wrong-type')
}

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

/** Programs may come to fail in new ways, so the name of an instruction's error may be any. */
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

/** Name and value of an object's only member. */
function onlyMember(value: unknown): readonly [name: string | null, value: unknown] {
  const members = hasFields(value) ? Object.entries(value) : []
  return members.length === 1 ? (members[0] ?? [null, null]) : [null, null]
}
