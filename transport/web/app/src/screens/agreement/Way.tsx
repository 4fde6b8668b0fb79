import { Link } from '../../router';
import { Section } from '../../ui/Screen';

// Way leads from what an Agreement governs to the Agreement.
export function Way({ to }: { to: string }) {
  return (
    <Section title="Agreement">
      <p>
        <Link to={`/ui/agreements/${to}`}>What it permits, and how it came to be</Link>
      </p>
    </Section>
  );
}
