import { Link } from '../router';
import type { Receipt } from '../types';
import { Icon } from '../ui/Icon';
import './ReceiptLink.css';

// ReceiptLink leads to the atom that a receipt is about.
export function ReceiptLink({ of, what = 'Receipt' }: { of: Receipt; what?: string }) {
  return (
    <Link class="receipt" to={`/ui/ledger/${of.seq}`} aria-label={`${what}: number ${of.seq} in the ledger`}>
      <Icon name="check" size={16} />#{of.seq}
    </Link>
  );
}
