import { CHAIN_CHECKS } from './island-verify-chain.ts'
import { startVerify } from './island-verify-forms.ts'
import { checkSavedProof, checkWitnesses } from './island-verify-witnesses.ts'

// Script of the saved verifier file: the checks, also against a blockchain and of witnesses.
startVerify({
  chain: CHAIN_CHECKS,
  openWitnesses: () => Promise.resolve({ checkSavedProof, checkWitnesses }),
})
