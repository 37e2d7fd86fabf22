"""Romanian vocabulary of the built-in corpus: generic words and common given names."""

from __future__ import annotations

from chronicle.vocabulary import fields, lines, words
from chronicle.world import DOCUMENT, HAPPENING, SITE

NAMES = {
    "m": words("""Adrian Alexandru Andrei Anton Aurel Bogdan Călin Cezar Ciprian Claudiu Cosmin
        Cristian Dan Dorin Dragoș Emil Eugen Filip Florin Gabriel George Horia Iacob Ilie Ion
        Laurențiu Lucian Marius Matei Mihai Octavian Ovidiu Paul Petru Radu Sergiu Silviu Ștefan
        Tudor Vlad"""),
    "f": words("""Adina Adriana Alina Ana Andreea Camelia Carmen Cecilia Clara Corina Cristina
        Daniela Delia Diana Doina Elena Emilia Eva Florentina Gabriela Ileana Ioana Irina Iulia
        Laura Lavinia Liliana Luminița Magdalena Maria Mihaela Mirela Nicoleta Oana Paula Raluca
        Roxana Silvia Simona Teodora"""),
}
# Masculine, feminine; with the article.
ROLES = fields("""judecătorul/judecătoarea inginerul/inginera doctorul/doctorița
        profesorul/profesoara jurnalistul/jurnalista ministrul/ministra editorul/editoarea
        scriitorul/scriitoarea directorul/directoarea pictorul/pictorița
        ambasadorul/ambasadoarea cercetătorul/cercetătoarea arhitectul/arhitecta
        traducătorul/traducătoarea fotograful/fotografa economistul/economista
        bibliotecarul/bibliotecara antrenorul/antrenoarea sculptorul/sculptorița
        actorul/actrița""")
PLACES = words("""Alba_Iulia Arad Bacău Baia_Mare Bârlad Bistrița Botoșani Brașov Brăila Buzău
        Călărași Cluj Constanța Craiova Deva Dorohoi Făgăraș Focșani Galați Giurgiu Hunedoara Huși
        Iași Lugoj Mangalia Medgidia Mediaș Onești Oradea Orșova Petroșani Pitești Ploiești
        Rădăuți Reșița Roman Sibiu Suceava Târgoviște Tulcea""")
# `/p`: its verb is in the plural.
ORGANISATIONS = lines("""consiliul orașului
        sindicatul profesorilor
        comisia de buget
        tribunalul județean
        Ministerul Culturii
        conducerea băncii
        locuitorii cartierului/p
        membrii comisiei/p
        muncitorii din port/p
        asociația studenților
        comitetul de părinți
        brigada de pompieri
        poliția județeană
        societatea de istorie
        orchestra orașului
        trupa de teatru
        clubul de fotbal
        institutul de cercetare
        editura universității
        compania de apă
        administrația căilor ferate
        cooperativa fermierilor
        conducerea spitalului
        echipa muzeului
        postul de radio
        redactorii ziarului/p
        elevii clasei/p
        voluntarii fundației/p
        proprietarii magazinelor/p
        biroul de planificare
        mișcarea de tineret
        biroul de avocatură""")
# A noun with its article. Documents, which alone are counted, also have gender and plural;
# happenings have the form without the article, which follows prepositions.
NOUNS = {
    DOCUMENT: fields("""acordul/n/acorduri raportul/n/rapoarte contractul/n/contracte
            scrisoarea/f/scrisori propunerea/f/propuneri planul/n/planuri bugetul/n/bugete
            petiția/f/petiții harta/f/hărți lista/f/liste factura/f/facturi declarația/f/declarații
            regulamentul/n/regulamente chestionarul/n/chestionare articolul/n/articole
            plângerea/f/plângeri autorizația/f/autorizații broșura/f/broșuri"""),
    SITE: fields("""școala podul biblioteca spitalul gara muzeul teatrul piața clinica fabrica
            portul arhiva sala parcul"""),
    HAPPENING: fields("""expoziția/expoziție conferința/conferință concertul/concert
            dezbaterea/dezbatere festivalul/festival cursul/curs ceremonia/ceremonie
            concursul/concurs excursia/excursie audierea/audiere atelierul/atelier
            prelegerea/prelegere spectacolul/spectacol recepția/recepție"""),
}
# Infinitive, participle, subjunctive of the third person; then flags and the preposition:
# `se` reflexive, `pe` direct object that a clitic doubles, `dat` indirect object.
VERBS = {
    name: tuple(forms.split())
    for name, forms in {
        "sign": "semna semnat semneze",
        "publish": "publica publicat publice",
        "approve": "aproba aprobat aprobe",
        "reject": "respinge respins respingă",
        "submit": "depune depus depună",
        "read": "citi citit citească",
        "draft": "redacta redactat redacteze",
        "translate": "traduce tradus traducă",
        "present": "prezenta prezentat prezinte",
        "distribute": "distribui distribuit distribuie",
        "correct": "corecta corectat corecteze",
        "print": "tipări tipărit tipărească",
        "examine": "examina examinat examineze",
        "receive": "primi primit primească",
        "send": "trimite trimis trimită",
        "copy": "copia copiat copieze",
        "lose": "pierde pierdut piardă",
        "find": "găsi găsit găsească",
        "hide": "ascunde ascuns ascundă",
        "update": "actualiza actualizat actualizeze",
        "open": "deschide deschis deschidă",
        "close": "închide închis închidă",
        "visit": "vizita vizitat viziteze",
        "renovate": "renova renovat renoveze",
        "paint": "zugrăvi zugrăvit zugrăvească",
        "rent": "închiria închiriat închirieze",
        "buy": "cumpăra cumpărat cumpere",
        "sell": "vinde vândut vândă",
        "clean": "curăța curățat curețe",
        "inspect": "inspecta inspectat inspecteze",
        "guard": "păzi păzit păzească",
        "measure": "măsura măsurat măsoare",
        "evacuate": "evacua evacuat evacueze",
        "expand": "extinde extins extindă",
        "organise": "organiza organizat organizeze",
        "cancel": "anula anulat anuleze",
        "postpone": "amâna amânat amâne",
        "promote": "promova promovat promoveze",
        "attend": "participa participat participe la",
        "moderate": "modera moderat modereze",
        "watch": "urmări urmărit urmărească",
        "film": "filma filmat filmeze",
        "fund": "finanța finanțat finanțeze",
        "praise": "lăuda lăudat laude",
        "condemn": "condamna condamnat condamne",
        "initiate": "iniția inițiat inițieze",
        "record": "înregistra înregistrat înregistreze",
        "thank": "mulțumi mulțumit mulțumească dat",
        "congratulate": "felicita felicitat felicite pe",
        "invite": "invita invitat invite pe",
        "interview": "intervieva intervievat intervieveze pe",
        "phone": "telefona telefonat telefoneze dat",
        "accompany": "însoți însoțit însoțească pe",
        "recruit": "recruta recrutat recruteze pe",
        "meet": "întâlni întâlnit întâlnească se cu",
        "question": "interoga interogat interogheze pe",
        "support": "susține susținut susțină pe",
        "warn": "avertiza avertizat avertizeze pe",
        "reassure": "liniști liniștit liniștească pe",
        "help": "ajuta ajutat ajute pe",
        "argue": "certa certat certe se cu",
        "arrive": "ajunge ajuns ajungă la",
        "leave": "pleca plecat plece din",
        "return": "întoarce întors întoarcă se la",
        "move": "muta mutat mute se la",
        "travel": "merge mers meargă la",
        "resign": "demisiona demisionat demisioneze",
        "speak": "vorbi vorbit vorbească",
        "protest": "protesta protestat protesteze",
        "vote": "vota votat voteze",
        "begin": "începe început înceapă",
        "end": "încheia încheiat încheie se",
        "shut": "închide închis închidă se",
        "reopen": "redeschide redeschis redeschidă se",
        "vanish": "dispărea dispărut dispară",
        "say": "spune spus spună",
        "announce": "anunța anunțat anunțe",
        "report": "relata relatat relateze",
        "write": "scrie scris scrie",
        "tell": "povesti povestit povestească",
        "claim": "afirma afirmat afirme",
        "explain": "explica explicat explice",
        "recall": "aminti amintit amintească",
        "add": "adăuga adăugat adauge",
        "stress": "sublinia subliniat sublinieze",
        "reveal": "dezvălui dezvăluit dezvăluie",
    }.items()
}
# By number (0 is not used), for feminine and neuter nouns, which differ only at 1.
NUMBERS = words("_ una două trei patru cinci șase șapte opt nouă")
MONTHS = words("""ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie
    noiembrie decembrie""")
