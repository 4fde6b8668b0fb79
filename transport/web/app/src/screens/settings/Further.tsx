import { isFor, ofSettings } from '../../menu';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { t } from '../../words';

// Further is the way to settings that have a screen of their own, and not for everybody.
export function Further() {
  return (
    <Section title={t('further.title')}>
      <List label={t('further.title')}>
        {ofSettings.filter(isFor).map(({ to, label, icon }) => (
          <Row key={to} to={to} start={<Icon name={icon} />} title={t(label)} />
        ))}
      </List>
    </Section>
  );
}
