import { Link } from '../router';
import type { Receipt } from '../types';
import { Icon } from '../ui/Icon';
import './ReceiptLink.css';
import { t } from '../words';

// ReceiptLink leads to the atom that a receipt is about.
export function ReceiptLink({ of, what = t('talk.receipt') }: { of: Receipt; what?: string }) {
  return (
    <Link class="receipt" to={`/ui/ledger/${of.seq}`} aria-label={t('receipt.number', { what, n: String(of.seq) })}>
      <Icon name="check" size={16} />#{of.seq}
    </Link>
  );
}
